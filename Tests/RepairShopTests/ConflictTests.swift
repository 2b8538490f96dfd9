import Foundation
import Testing
import Tidemark
import TidemarkNIOTransport
import TidemarkRepairShop

@Suite(.timeLimit(.minutes(5))) struct ConflictTests {
    /// Ann and bob write notes while they cannot receive each other's; ann's arrives first.
    private func disagree(_ server: TestServer, _ ann: Workbench, _ bob: Workbench) async throws -> Order {
        let order = try await ann.take("broken glass")
        try ann.connect(server)
        try bob.connect(server)
        try await bob.order(order.id) { _ in true }
        await ann.disconnect()
        await bob.disconnect()
        try await ann.shop.orders.update(order.id) { $0.notes = "glass only" }
        try await bob.shop.orders.update(order.id) { $0.notes = "glass and battery" }
        try ann.connect(server)
        try await ann.settled()
        try bob.connect(server)
        try await bob.settled()
        return order
    }

    @Test func `a value that the last write replaced is in the history of both, and restored`() async throws {
        try await TestServer.running(schema: try RepairShopSchema.schema()) { server in
            let ann = try await Workbench.open("ann")
            let bob = try await Workbench.open("bob", shop: ann.shop.id)
            let order = try await disagree(server, ann, bob)
            for device in [ann, bob] {
                try await device.order(order.id) { $0.notes == "glass and battery" }
                var found: [HistoryEntry] = []
                for try await entries in device.store.observeHistory(of: order.id, in: "orders")
                where entries.first?.device != nil {
                    found = entries
                    break
                }
                #expect(found.map(\.field) == ["notes"])
                #expect(found.first?.old == "glass only" && found.first?.new == "glass and battery")
                #expect(found.first?.author == UserID("bob") && found.first?.app == "bench 1")
            }
            let entry = try #require(try await bob.store.history(of: order.id, in: "orders").first)
            try await bob.store.restore(entry)
            for device in [ann, bob] {
                let restored = try await device.order(order.id) { $0.notes == "glass only" }
                #expect(restored?.syncState != .conflict)
                #expect(
                    try await device.store.history(of: order.id, in: "orders").count == 1, "what was seen is no loss")
                await device.disconnect()
            }
        }
    }

    @Test func `of a manual field both values stay, until the second writer chooses`() async throws {
        let plain = #""notes": { "type": "string", "max": 8192, "search": true }"#
        let manual = #""notes": { "type": "string", "max": 8192, "search": true, "merge": "manual" }"#
        let document = String(decoding: RepairShopSchema.document, as: UTF8.self)
        try #require(document.contains(plain))
        let schema = try Schema(json: Array(document.replacingOccurrences(of: plain, with: manual).utf8))
        try await TestServer.running(schema: schema) { server in
            let ann = try await Workbench.open("ann", schema: schema)
            let bob = try await Workbench.open("bob", shop: ann.shop.id, schema: schema)
            let order = try await disagree(server, ann, bob)
            let shown = try await bob.order(order.id) { $0.syncState == .conflict }
            #expect(shown?.notes == "glass only")
            let conflict = try #require(try await bob.store.conflicts().first)
            #expect(conflict.record == order.id && conflict.collection == "orders")
            #expect(conflict.fields.map(\.name) == ["notes"])
            #expect(conflict.fields.first?.mine == "glass and battery" && conflict.fields.first?.theirs == "glass only")
            #expect(try await ann.store.conflicts().isEmpty)
            try await conflict.resolve(with: .mine)
            for device in [ann, bob] {
                let settled = try await device.order(order.id) {
                    $0.notes == "glass and battery" && $0.syncState == .synced
                }
                #expect(settled != nil)
                #expect(try await device.store.conflicts().isEmpty)
                await device.disconnect()
            }
        }
    }
}
