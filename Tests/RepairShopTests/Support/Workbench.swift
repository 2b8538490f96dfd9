import Foundation
import Logging
import Tidemark
import TidemarkNIOTransport
import TidemarkRepairShop

/// One device of a member of the staff.
struct Workbench: Sendable {
    let store: SyncStore
    let shop: RepairShop

    /// Opens a shop, or joins an existing one.
    static func open(_ user: String, shop: UUID? = nil, schema: Schema? = nil) async throws -> Workbench {
        var environment = StoreEnvironment.system
        environment.app = "bench 1"
        let store = try SyncStore.inMemory(
            account: UserID(user), schema: try schema ?? RepairShopSchema.schema(), environment: environment)
        if let shop { return Workbench(store: store, shop: RepairShop(shop, in: store)) }
        let staff = Set(["ann", "bob"].map { UserID($0) })
        let created = Shop(name: "Fix it", staff: staff, admins: [UserID(user)], currency: "EUR")
        return Workbench(store: store, shop: try await RepairShop.create(created, in: store))
    }

    func connect(_ server: TestServer) throws {
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        let token = try server.token(store.account.text)
        try store.connect(to: "http://127.0.0.1:\(server.port)", transport: NIOTransport(), logger: logger) { token }
    }

    func disconnect() async { await store.disconnect() }

    /// Waits until nothing is left to be sent.
    func settled() async throws {
        for try await count in store.outbox.pendingCount where count == 0 { return }
    }

    /// Creates a client and their order.
    func take(_ notes: String, status: OrderStatus = .received, at time: Double = 0) async throws -> Order {
        let client = Client(shop: shop.id, lastName: "Cem")
        try await shop.clients.create(client)
        let order = Order(
            shop: shop.id, client: client.id, status: status, notes: notes,
            received: Date(timeIntervalSince1970: time))
        try await shop.orders.create(order)
        return order
    }

    /// The order once it is as expected.
    @discardableResult
    func order(_ id: UUID, once isExpected: @escaping @Sendable (Order) -> Bool) async throws -> Order? {
        let listing = await shop.orders.list().first { listing in
            listing.records.contains { $0.id == id && isExpected($0) }
        }
        return listing?.records.first { $0.id == id }
    }
}

extension Listings {
    /// The first matching listing; the suite's time limit ends the wait.
    func first(where fits: @Sendable (Listing<Model>) -> Bool) async -> Listing<Model>? {
        for await listing in self where fits(listing) { return listing }
        return nil
    }
}
