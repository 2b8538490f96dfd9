import Foundation
import Tidemark
import TidemarkChat
import TidemarkCommandLine
import TidemarkModel

/// Writes that are no inserts, and what the device keeps of what came.
extension LocalRun {
    /// Messages of 8 kB: half as many again as the default cache holds.
    private static let cached = (count: 18_750, bytes: 8_000)

    func changes(_ chat: Chat, _ ground: LocalGround, _ table: inout LimitTable) async throws {
        let store = chat.store
        let room = UUID(ground.long)
        var index = 0
        let update = try await inTurns(rounds) {
            index += 1
            let name = "conversation \(index)"
            try await store.repository(DemoConversation.self).update(room) { $0.name = name }
        }
        table.add("update", "update of a record, durable", update.sdk[0], .below(1, "S2.9"))
        table.add("update_p99", "  the same, p99", update.sdk[1], .below(10, "S0.2"))
        var mine: [UUID] = []
        try await store.write(.inParts) { batch in
            // One more for the turn that does not count.
            for _ in 0...rounds {
                let message = message(ground)
                mine.append(message.id)
                batch.create(message)
            }
        }
        let delete = try await inTurns(rounds) {
            guard let id = mine.popLast() else { throw BenchError("there is nothing left to delete") }
            try await store.repository(DemoMessage.self).delete(id)
        }
        table.add("delete", "delete of a message, durable", delete.sdk[0], .below(1, "S2.9"))
        table.add("delete_p99", "  the same, p99", delete.sdk[1], .below(10, "S0.2"))
    }

    /// More comes than the default cache holds: what it evicts, and what the file is afterwards.
    func cache(_ table: inout LimitTable) async throws {
        let folder = try TemporaryFolder("tidemark-bench")
        defer { withExtendedLifetime(folder) {} }
        let ground = try LocalGround(folder: folder)
        try ground.fill(messages: Self.cached.count, conversations: 2, padding: Self.cached.bytes)
        let store = try ground.open()
        var evicted = 0
        let took = try await clock.measure {
            evicted = try await store.evict()
            try store.database.giveBack()
        }
        let left = try await store.statistics()
        guard evicted > 0 else { throw BenchError("nothing was evicted of \(left.fileBytes) bytes") }
        let came = Self.cached.count * Self.cached.bytes / 1_000_000
        table.add(
            "cache_mb", "MB of the file after \(came) MB came, default cache", Double(left.fileBytes) / 1_000_000,
            .below(100, "S0.11"))
        table.add("evict", "  evicted, and given back to the disk", took / .milliseconds(1))
        try await store.close()
    }
}
