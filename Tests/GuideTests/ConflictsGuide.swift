import Foundation
import Testing
import Tidemark
import TidemarkTestKit

@Suite(.timeLimit(.minutes(5))) struct ConflictsGuide {
    @Test func `a price here and a status there are both kept`() async throws {
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

        ann.goOnline()
        bob.goOnline()
        try await kit.settle()
        let row = try #require(try kit.rows(of: Order.self).first)
        #expect(row.price == 49 && row.status == "ready")
        try kit.expectConverged()
    }
}
