import Foundation
import Testing
import Tidemark
import TidemarkTestKit

@Suite(.timeLimit(.minutes(5))) struct ConflictsGuide {
    @Test func `a price on one device and a status on another are both kept`() async throws {
        let kit = try TestKit(schema: try GuideSchema.schema())
        let ann = try await kit.client("ann")
        let bob = try await kit.client("bob")
        let list = TaskList(members: ["ann", "bob"])
        try await ann.store.repository(TaskList.self).create(list)
        let placed = Order(listId: list.id)
        try await ann.store.repository(Order.self).create(placed)
        try await kit.settle()
        ann.goOffline()
        bob.goOffline()
        let (annsOrders, bobsOrders) = (ann.store.repository(Order.self), bob.store.repository(Order.self))
        let order = placed.id

        try await annsOrders.update(order) { $0.price = 49 }
        try await bobsOrders.update(order) { $0.status = "ready" }

        for orders in [annsOrders, bobsOrders] { try await orders.update(order) { $0.copies += 1 } }

        ann.goOnline()
        bob.goOnline()
        try await kit.settle()
        let row = try #require(try kit.rows(of: Order.self).first)
        #expect(row.price == 49 && row.status == "ready" && row.copies == 2)
        try kit.expectConverged()

        for client in [ann, bob] { client.goOffline() }
        try await annsOrders.update(order) { $0.price = 50 }
        try await bobsOrders.update(order) { $0.price = 60 }
        ann.goOnline()
        try await kit.settle()
        bob.goOnline()
        try await kit.settle()
        #expect(try kit.rows(of: Order.self).first?.price == 60)

        // The server is asked, and its answer is available the next time.
        _ = try await ann.store.history(of: order, in: "orders")
        try await kit.settle()

        for entry in try await ann.store.history(of: order, in: "orders") {
            print(entry.field, entry.old?.json ?? "nothing", entry.new?.json ?? "nothing", entry.time)
            if entry.field == "price" { try await ann.store.restore(entry) }
        }
        try await kit.settle()
        #expect(try kit.rows(of: Order.self).first?.price == 50)
    }

    @Test func `a choice of one field leaves what the others overwrite in the history`() async throws {
        let kit = try TestKit(schema: try GuideSchema.schema())
        let ann = try await kit.client("ann")
        let bob = try await kit.client("bob")
        let list = TaskList(members: ["ann", "bob"])
        try await ann.store.repository(TaskList.self).create(list)
        let placed = Order(listId: list.id, price: 39, terms: "none")
        try await ann.store.repository(Order.self).create(placed)
        try await kit.settle()
        bob.goOffline()
        let order = placed.id
        try await bob.store.repository(Order.self).update(order) { ($0.terms, $0.price) = ("on delivery", 59) }
        try await ann.store.repository(Order.self).update(order) { ($0.terms, $0.price) = ("in advance", 49) }
        try await kit.settle()
        bob.goOnline()
        try await kit.settle()

        for conflict in try await bob.store.conflicts() {
            for field in conflict.fields { print(field.name, field.mine ?? .null, field.theirs ?? .null) }
            try await conflict.resolve(with: .theirs)
        }

        try await kit.settle()
        for entry in try await ann.store.history(of: order, in: "orders") {
            print(entry.field, entry.old ?? .null, entry.new ?? .null, entry.author?.text ?? "not known yet")
        }

        let row = try #require(try kit.rows(of: Order.self).first)
        #expect(row.price == 59 && row.terms == "in advance")
        _ = try await bob.store.history(of: order, in: "orders")
        try await kit.settle()
        for device in [ann, bob] {
            let entries = try await device.store.history(of: order, in: "orders")
            #expect(entries.map(\.field) == ["price"])
            #expect(entries.first?.old == 49 && entries.first?.new == 59)
            #expect(entries.first?.author == UserID("bob"))
        }
        try kit.expectConverged()
    }
}
