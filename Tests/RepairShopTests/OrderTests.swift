import Foundation
import Testing
import Tidemark
import TidemarkRepairShop

@Suite(.timeLimit(.minutes(1))) struct OrderTests {
    @Test func `edits of different fields from two devices are all kept, of one field the last accepted stands`()
        async throws
    {
        try await TestServer.running(schema: try RepairShopSchema.schema()) { server in
            let ann = try await Workbench.open("ann")
            let bob = try await Workbench.open("bob", shop: ann.shop.id)
            let order = try await ann.take("broken glass")
            try ann.connect(server)
            try bob.connect(server)
            try await bob.order(order.id) { _ in true }
            await ann.disconnect()
            await bob.disconnect()

            try await ann.shop.orders.updateOrderStatus(order.id, to: .inRepair)
            try await ann.shop.orders.update(order.id) { $0.diagnosis = "glass only" }
            try await bob.shop.orders.update(order.id) {
                $0.price = Money(minorUnits: 12_990, currency: "EUR")
                $0.diagnosis = "glass and battery"
            }
            try ann.connect(server)
            try await ann.settled()
            try bob.connect(server)
            try await bob.settled()
            for device in [ann, bob] {
                let merged = try await device.order(order.id) {
                    $0.price != nil && $0.status == .inRepair && $0.diagnosis == "glass and battery"
                }
                #expect(merged?.price == Money(minorUnits: 12_990, currency: "EUR"))
                #expect(merged?.problem == "broken glass")
                #expect(try await device.store.outbox.parked().isEmpty)
                await device.disconnect()
            }
        }
    }

    @Test func `the list by status follows the status`() async throws {
        let ann = try await Workbench.open("ann")
        let first = try await ann.take("a", status: .ready, at: 1)
        let second = try await ann.take("b", at: 2)
        var ready = ann.shop.orders.list(status: .ready).makeAsyncIterator()
        #expect(await ready.next() == Listing(isLoading: true))
        #expect(await ready.next()?.records.map(\.id) == [first.id])
        try await ann.shop.orders.updateOrderStatus(second.id, to: .ready)
        #expect(await ready.next()?.records.map(\.id) == [second.id, first.id])
        try await ann.shop.orders.updateOrderStatus(first.id, to: .pickedUp)
        #expect(await ready.next()?.records.map(\.id) == [second.id])
        let all = await ann.shop.orders.list(status: nil).first { !$0.records.isEmpty }
        #expect(all?.records.map(\.status) == [.ready, .pickedUp])
        #expect(all?.records.first?.syncState == .pending)
    }

    @Test func `what does not exist is not found, nor what another shop has`() async throws {
        let ann = try await Workbench.open("ann")
        let elsewhere = RepairShop(UUID(), in: ann.store)
        let order = try await ann.take("a")
        let deleted = try await ann.take("b")
        try await ann.shop.orders.delete(deleted.id)
        for (shop, id) in [(ann.shop, UUID()), (ann.shop, deleted.id), (elsewhere, order.id)] {
            let error = RepairShopError.notFound(collection: "orders", id: id)
            await #expect(throws: error) { try await shop.orders.read(id) }
            await #expect(throws: error) { try await shop.orders.updateOrderStatus(id, to: .ready) }
            await #expect(throws: error) { try await shop.orders.delete(id) }
        }
        #expect(try await ann.shop.orders.read(order.id).status == .received)
    }

    @Test func `a status from a newer app is shown and kept`() async throws {
        let ann = try await Workbench.open("ann")
        let order = try await ann.take("a", status: OrderStatus(rawValue: "onTheMoon"))
        try await ann.shop.orders.update(order.id) { $0.technician = "bob" }
        #expect(try await ann.shop.orders.read(order.id).status.rawValue == "onTheMoon")
    }
}
