import Foundation
import Testing
import Tidemark
import TidemarkRepairShop
import TidemarkTestKit

/// Orders that are at the server and not on the device.
@Suite(.timeLimit(.minutes(5))) struct FetchingTests {
    private let kit: TestKit
    private let (ann, bob): (TestClient, TestClient)
    private let counter: RepairShop
    private let client: Client

    private var bench: RepairShop { RepairShop(counter.id, in: bob.store) }

    init() async throws {
        kit = try TestKit(schema: try RepairShopSchema.schema())
        (ann, bob) = (try await kit.client("ann"), try await kit.client("bob"))
        counter = try await RepairShop.create(
            Shop(name: "Fix it", staff: [UserID("ann"), UserID("bob")]), in: ann.store)
        client = Client(shop: counter.id, lastName: "Cem")
        try await counter.clients.create(client)
    }

    private func take(_ number: Int) async throws -> Order {
        let order = Order(shop: counter.id, client: client.id, number: number)
        try await counter.orders.create(order)
        return order
    }

    @Test func `an order that only the server has is fetched on request`() async throws {
        let old = try await take(1)
        for number in 2...6 { _ = try await take(number) }
        try await kit.settle()
        var policy = CachePolicy()
        policy.maxRows = 2
        #expect(try await bob.store.evict(policy) == 4)
        let read = try await kit.whileRunning { try await bench.orders.read(old.id) }
        #expect(read.number == 1 && read.syncState == .synced)
        try await bench.orders.updateOrderStatus(old.id, to: .ready)
        try await kit.settle()
        #expect(try await counter.orders.read(old.id).status == .ready)
        // A record that does not exist is not found, there as here.
        let id = UUID()
        await #expect(throws: RepairShopError.notFound(collection: "orders", id: id)) {
            try await kit.whileRunning { try await bench.orders.read(id) }
        }
        bob.goOffline(isNoticed: true)
        await kit.advance(by: .seconds(1))
        let error = await #expect(throws: StoreError.self) { try await bench.orders.read(id) }
        #expect(error?.code == .unreachable)
    }

    @Test func `a push notification starts a round, which receives the new order and sends waiting writes`()
        async throws
    {
        try await kit.settle()
        bob.store.pause()
        try await bench.clients.update(client.id) { $0.phone = "1" }
        let order = try await take(1)
        try await kit.settle()
        #expect(try await counter.clients.read(client.id).phone == nil)
        // The code of the app in `didReceiveRemoteNotification`.
        let status = try await kit.whileRunning { await bob.store.runOnce(deadline: .seconds(25)) }
        #expect(status.activity == .upToDate && status.pending == 0 && bob.store.isPaused)
        #expect(try await bench.orders.read(order.id).number == 1)
        #expect(try await counter.clients.read(client.id).phone == "1")
    }
}
