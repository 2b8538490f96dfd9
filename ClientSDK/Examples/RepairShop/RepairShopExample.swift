import ArgumentParser
import Foundation
import Tidemark
import TidemarkNIOTransport
import TidemarkRepairShop
import TidemarkTestKit

/// A repair shop with a counter and a bench.
///
///     swift run RepairShopExample
///     swift run RepairShopExample --server http://127.0.0.1:8080 --token T --user ann
@main struct RepairShopExample: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "RepairShopExample",
        abstract: "An order is taken and repaired: on two devices in this process, or on a server with its schema.")

    @Option(help: "The address of a server with the repair shop's schema; without it, all runs in this process.")
    var server: String?
    @Option(help: "A bearer token of the user.")
    var token = ""
    @Option(help: "The user that you sign in as.")
    var user = "ann"

    func run() async throws {
        if let server { try await work(on: server) } else { try await workInProcess() }
    }

    /// Opens a shop on a server and takes an order there.
    private func work(on server: String) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "tidemark-example-\(UUID())")
        let store = try await SyncStore.open(
            account: UserID(user), at: folder, schema: try RepairShopSchema.schema())
        try store.connect(to: server, transport: NIOTransport()) { [token] in token }
        let shop = try await RepairShop.create(Shop(name: "Fix it", staff: [UserID(user)]), in: store)
        let order = try await takeOrder(in: shop)
        try await shop.orders.updateOrderStatus(order.id, to: .ready)
        let status = try await store.syncNow()
        if case .rejected(let reason) = status.connection { throw ExampleFailure("not sent: \(reason)") }
        guard status.pending == 0 else { throw ExampleFailure("not sent: \(status.connection)") }
        if let refused = try await store.outbox.rejected().first {
            throw ExampleFailure("refused: \(refused.rejection.message)")
        }
        try await show(shop, "On the server:")
        await store.disconnect()
    }

    /// The counter has a form open while the bench, offline, changes the status: saving the form does not revert the
    /// status.
    private func workInProcess() async throws {
        let kit = try TestKit(schema: try RepairShopSchema.schema())
        let (counter, bench) = (try await kit.client("ann"), try await kit.client("bob"))
        let shop = try await RepairShop.create(
            Shop(name: "Fix it", staff: [UserID("ann"), UserID("bob")], currency: "EUR"), in: counter.store)
        let order = try await takeOrder(in: shop)
        try await kit.settle()

        let shown = try await shop.orders.read(order.id)
        bench.goOffline()
        let atBench = RepairShop(shop.id, in: bench.store)
        try await atBench.orders.updateOrderStatus(order.id, to: .ready)
        var edited = shown
        edited.total = Money(minorUnits: 4_900, currency: "EUR")
        try await shop.orders.update(edited, from: shown)
        try await show(atBench, "At the bench, offline:")
        bench.goOnline()
        try await kit.settle()

        try await show(shop, "At the counter, once both are in step:")
        let done = try await shop.orders.read(order.id)
        guard done.status == .ready, done.total?.minorUnits == 4_900 else { throw ExampleFailure("a change is lost") }
        try kit.expectConverged()
    }

    private func takeOrder(in shop: RepairShop) async throws -> Order {
        let client = Client(shop: shop.id, lastName: "Cem")
        try await shop.clients.create(client)
        let order = Order(shop: shop.id, client: client.id, number: 1, notes: "The screen is cracked")
        try await shop.orders.create(order)
        try await shop.devices.create(Device(of: order, type: "phone", issue: "The screen is cracked"))
        return order
    }

    private func show(_ shop: RepairShop, _ title: String) async throws {
        print(title)
        for await listing in shop.orders.list() where !listing.isLoading {
            for order in listing.records {
                let price = order.total.map { "\($0.minorUnits) \($0.currency)" } ?? "no price"
                print("  \(order.notes ?? ""): \(order.status.rawValue), \(price)")
            }
            break
        }
    }
}

/// The reason why the example fails.
struct ExampleFailure: Error, CustomStringConvertible {
    let description: String

    init(_ reason: String) { description = reason }
}
