import Foundation
import Testing
import Tidemark
import TidemarkModel
import TidemarkRepairShop
import TidemarkTestKit

@Suite(.timeLimit(.minutes(5))) struct OrderTests {
    @Test func `edits of different fields from two devices are all kept, of one field the last accepted wins`()
        async throws
    {
        let kit = try TestKit(schema: try RepairShopSchema.schema())
        let (ann, bob) = (try await kit.client("ann"), try await kit.client("bob"))
        let atCounter = try await RepairShop.create(
            Shop(name: "Fix it", staff: [UserID("ann"), UserID("bob")]), in: ann.store)
        let atBench = RepairShop(atCounter.id, in: bob.store)
        let client = Client(shop: atCounter.id, lastName: "Cem")
        try await atCounter.clients.create(client)
        let order = Order(shop: atCounter.id, client: client.id, number: 7, notes: "broken glass")
        try await atCounter.orders.create(order)
        try await kit.settle()
        ann.goOffline()
        bob.goOffline()

        try await atCounter.orders.updateOrderStatus(order.id, to: .inRepair)
        try await atCounter.orders.update(order.id) { $0.location = "shelf 2" }
        try await atBench.orders.update(order.id) {
            $0.total = Money(minorUnits: 12_990, currency: "EUR")
            $0.location = "bench"
        }
        ann.goOnline()
        try await kit.settle()
        bob.goOnline()
        try await kit.settle()
        for shop in [atCounter, atBench] {
            let merged = try await shop.orders.read(order.id)
            #expect(merged.status == .inRepair)
            #expect(merged.location == "bench")
            #expect(merged.total == Money(minorUnits: 12_990, currency: "EUR"))
            #expect(merged.notes == "broken glass" && merged.number == 7)
        }
        for device in [ann, bob] { #expect(try await device.store.outbox.rejected().isEmpty) }
        try kit.expectConverged()
    }

    @Test func `a total on one device and a deposit on another make one balance on both`() async throws {
        let kit = try TestKit(schema: try RepairShopSchema.schema())
        let (ann, bob) = (try await kit.client("ann"), try await kit.client("bob"))
        let counter = try await RepairShop.create(
            Shop(name: "Fix it", staff: [UserID("ann"), UserID("bob")]), in: ann.store)
        let bench = RepairShop(counter.id, in: bob.store)
        let client = Client(shop: counter.id, lastName: "Cem")
        try await counter.clients.create(client)
        let order = Order(shop: counter.id, client: client.id, total: Money(minorUnits: 5_000, currency: "EUR"))
        #expect(order.balance == order.total)
        try await counter.orders.create(order)
        try await kit.settle()
        ann.goOffline()
        bob.goOffline()
        try await counter.orders.update(order.id) { $0.deposit = Money(minorUnits: 2_000, currency: "EUR") }
        try await bench.orders.update(order.id) { $0.total = Money(minorUnits: 9_000, currency: "EUR") }
        ann.goOnline()
        bob.goOnline()
        try await kit.settle()
        for shop in [counter, bench] {
            #expect(try await shop.orders.read(order.id).balance == Money(minorUnits: 7_000, currency: "EUR"))
        }
        try await bench.orders.update(order.id) { $0.deposit = Money(minorUnits: 1, currency: "USD") }
        #expect(try await bench.orders.read(order.id).balance == nil)
        #expect(Order(shop: counter.id, client: client.id).balance == nil)
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

    @Test func `a missing order is not found, nor is another shop's`() async throws {
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

    @Test func `a form writes the fields edited since it opened, and undoes no change that others made meanwhile`()
        async throws
    {
        let kit = try TestKit(schema: try RepairShopSchema.schema())
        let (ann, bob) = (try await kit.client("ann"), try await kit.client("bob"))
        let counter = try await RepairShop.create(
            Shop(name: "Fix it", staff: [UserID("ann"), UserID("bob")]), in: ann.store)
        let bench = RepairShop(counter.id, in: bob.store)
        let client = Client(shop: counter.id, lastName: "Cem")
        try await counter.clients.create(client)
        let order = Order(shop: counter.id, client: client.id, notes: "broken glass")
        try await counter.orders.create(order)
        try await kit.settle()

        let (shownOrder, shownClient) = (
            try await counter.orders.read(order.id), try await counter.clients.read(client.id)
        )
        try await bench.orders.update(order.id) { ($0.status, $0.notes) = (OrderStatus.ready, "glass and battery") }
        try await bench.clients.update(client.id) { $0.phone = "1" }
        try await kit.settle()
        var (edited, editedClient) = (shownOrder, shownClient)
        (edited.location, edited.notes) = ("shelf 2", "glass only")
        editedClient.city = "Town"
        try await counter.orders.update(edited, from: shownOrder)
        try await counter.clients.update(editedClient, from: shownClient)
        try await kit.settle()
        for shop in [counter, bench] {
            let saved = try await shop.orders.read(order.id)
            #expect(saved.status == .ready && saved.location == "shelf 2" && saved.notes == "glass only")
            let client = try await shop.clients.read(client.id)
            #expect(client.phone == "1" && client.city == "Town")
        }
        // Values that the form did not see are not lost. The server is asked, and its answer is available the next
        // time.
        _ = try await ann.store.history(of: order.id, in: "orders")
        try await kit.settle()
        let history = try await ann.store.history(of: order.id, in: "orders")
        #expect(history.map(\.field) == ["notes"] && history.first?.old == "glass and battery")
        let gone = Order(shop: counter.id, client: client.id)
        await #expect(throws: RepairShopError.notFound(collection: "orders", id: gone.id)) {
            try await counter.orders.update(gone, from: gone)
        }
        try kit.expectConverged()
    }

    @Test func `an order's status moves by steps, and only an admin opens it again`() async throws {
        let kit = try TestKit(schema: try RepairShopSchema.schema())
        let (ann, bob) = (try await kit.client("ann"), try await kit.client("bob"))
        let counter = try await RepairShop.create(
            Shop(name: "Fix it", staff: [UserID("ann"), UserID("bob")]), in: ann.store)
        let bench = RepairShop(counter.id, in: bob.store)
        let client = Client(shop: counter.id, lastName: "Cem")
        try await counter.clients.create(client)
        let order = Order(shop: counter.id, client: client.id)
        try await counter.orders.create(order)
        try await kit.settle()
        func refusal(_ work: () async throws -> Void) async -> String? {
            do { try await work() } catch { return (error as? StoreError)?.message ?? "\(error)" }
            return nil
        }
        #expect(
            await refusal { try await bench.orders.updateOrderStatus(order.id, to: .pickedUp) }?.hasPrefix(
                #"orders.status: cannot change from "received" to "pickedUp", only to "diagnosing""#) == true)
        #expect(
            await refusal { try await bench.orders.update(order.id) { $0.status = OrderStatus(rawValue: "lost") } }?
                .hasPrefix("orders.status: must be one of") == true)
        #expect(
            await refusal {
                try await bench.orders.update(order.id) { $0.total = Money(minorUnits: -1, currency: "EUR") }
            } == "orders.total: the value of minorUnits must be at least 0, not -1")
        for status in [OrderStatus.inRepair, .ready, .pickedUp] {
            try await bench.orders.updateOrderStatus(order.id, to: status)
        }
        try await kit.settle()
        #expect(
            await refusal { try await bench.orders.updateOrderStatus(order.id, to: .ready) }
                == #"orders.status: may change from "pickedUp" to "ready" by admin, and bob is member"#)
        try await counter.orders.updateOrderStatus(order.id, to: .ready)
        try await kit.settle()
        #expect(try await bench.orders.read(order.id).status == .ready)
        try kit.expectConverged()
    }

    @Test func `a status from a newer app is shown and kept`() async throws {
        let ann = try await Workbench.open("ann")
        let order = try await ann.take("a")
        // As another app's write of a schema with more values: only writes of this app are judged by its own.
        let key = RecordKey(collection: "orders", id: UniqueID(order.id))
        try ann.store.database.write(
            Transaction(
                id: UniqueID(UUID()),
                mutations: [Mutation(key: key, action: .update([NamedPatch("status", .set("onTheMoon"))]))],
                clientTime: 1))
        try await ann.shop.orders.update(order.id) { $0.assignee = "bob" }
        #expect(try await ann.shop.orders.read(order.id).status.rawValue == "onTheMoon")
    }
}
