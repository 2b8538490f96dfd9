import Foundation
import Testing
import Tidemark
import TidemarkRepairShop

@Suite(.timeLimit(.minutes(5))) struct ClientTests {
    private func take(
        _ client: Client, _ amount: Int64?, in currency: String = "EUR", _ status: OrderStatus = .pickedUp,
        at bench: Workbench
    ) async throws -> Order {
        var order = Order(shop: bench.shop.id, client: client.id, status: status)
        order.total = amount.map { Money(minorUnits: $0, currency: currency) }
        try await bench.shop.orders.create(order)
        return order
    }

    @Test func `a client has the count of their orders and the sum they spent, computed from the orders`() async throws
    {
        let ann = try await Workbench.open("ann")
        var cem = Client(shop: ann.shop.id, firstName: "Cem", lastName: "Can", email: "cem@a.example")
        (cem.company, cem.city, cem.postcode) = ("Can & Sons", "Town", "1010")
        let dee = Client(shop: ann.shop.id, lastName: "Dee")
        for client in [cem, dee] { try await ann.shop.clients.create(client) }
        _ = try await take(cem, 4_900, at: ann)
        _ = try await take(cem, 100, at: ann)
        _ = try await take(cem, 7, in: "USD", at: ann)
        _ = try await take(cem, nil, at: ann)
        let open = try await take(cem, 1_000, .ready, at: ann)
        let read = try await ann.shop.clients.read(cem.id)
        #expect(read.name == "Cem Can" && read.company == "Can & Sons" && read.city == "Town")
        #expect(read.postcode == "1010" && read.orderCount == 5)
        let euros = Money(minorUnits: 5_000, currency: "EUR")
        #expect(read.totalSpent == [euros, Money(minorUnits: 7, currency: "USD")])
        // The list follows the orders.
        var lists = ann.shop.clients.list().makeAsyncIterator()
        #expect(await lists.next()?.isLoading == true)
        #expect(await lists.next()?.records.map(\.orderCount) == [0, 5])
        try await ann.shop.orders.updateOrderStatus(open.id, to: .pickedUp)
        let changed = await lists.next()?.records.last
        #expect(changed?.totalSpent.first == Money(minorUnits: 6_000, currency: "EUR"))
        // Computed values are not written back.
        try await ann.shop.clients.update(cem.id) { $0.phone = "1" }
        #expect(try await ann.shop.clients.read(cem.id).orderCount == 5)
        #expect(try await ann.shop.clients.read(dee.id).totalSpent.isEmpty)
    }
}
