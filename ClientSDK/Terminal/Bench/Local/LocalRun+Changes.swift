import Foundation
import Tidemark
import TidemarkChat
import TidemarkCommandLine
import TidemarkModel

/// Measures writes that are not inserts, and the file after eviction.
extension LocalRun {
    /// Messages of 8 kB: one and a half times the default cache.
    private static let cached = (count: 18_750, bytes: 8_000)

    /// Measures updates and deletions, alone and a hundred together. Alone, the disk determines the time, because it
    /// confirms each: the limit in milliseconds applies to each of a hundred.
    func changes(
        _ chat: Chat, _ raw: RawSQLite, _ ground: LocalGround, _ table: inout LimitTable
    ) async throws {
        let store = chat.store
        let room = UUID(ground.long)
        var index = 0
        let update = try await inTurns(rounds) {
            index += 1
            let name = "conversation \(index)"
            try await store.repository(DemoConversation.self).update(room) { $0.name = name }
        } _: {
            try raw.run(
                "UPDATE bench_messages SET text = ? WHERE rowid = (SELECT max(rowid) FROM bench_messages)",
                [.text("\(index)")])
        }
        table.add("update", "update of a record, durable", update.sdk[0], raw: update.raw[0], .below(1, "S2.6"))
        table.add("update_p99", "  the same, p99", update.sdk[1], raw: update.raw[1], .below(10, "S0.2"))
        // One more of each for the warm-up turn.
        var mine = try await create(rounds + 1 + (hundreds + 1) * Self.hundred, store, ground)
        let delete = try await inTurns(rounds) {
            let id = mine.removeLast()
            try await store.repository(DemoMessage.self).delete(id)
        } _: {
            try raw.run("DELETE FROM bench_messages WHERE rowid = (SELECT max(rowid) FROM bench_messages)")
        }
        table.add("delete", "delete of a message, durable", delete.sdk[0], raw: delete.raw[0], .below(1, "S2.6"))
        table.add("delete_p99", "  the same, p99", delete.sdk[1], raw: delete.raw[1], .below(10, "S0.2"))
        let rooms = try await store.read { snapshot in
            try snapshot.rows(
                "SELECT local_id FROM conversations LIMIT ?", [.integer(Int64(Self.hundred))], as: UUID.self)
        }
        let updates = try await inTurns(hundreds) {
            index += 1
            let name = "conversation \(index)"
            try await store.write(.inParts) { batch in
                for room in rooms { batch.update(DemoConversation.self, room) { $0.name = name } }
            }
        }
        table.add(
            "update_each", "update, each of \(rooms.count) together", updates.sdk[0] / Double(rooms.count),
            .below(1, "S2.9"))
        let deletes = try await inTurns(hundreds) {
            let ids = mine.suffix(Self.hundred)
            mine.removeLast(ids.count)
            try await store.write(.inParts) { batch in for id in ids { batch.delete(DemoMessage.self, id) } }
        }
        table.add(
            "delete_each", "delete, each of \(Self.hundred) together", deletes.sdk[0] / Double(Self.hundred),
            .below(1, "S2.9"))
    }

    private static let hundred = 100
    private var hundreds: Int { max(3, rounds / 20) }

    private func create(_ count: Int, _ store: SyncStore, _ ground: LocalGround) async throws -> [UUID] {
        let messages = (0..<count).map { _ in message(ground) }
        try await store.write(.inParts) { batch in for message in messages { batch.create(message) } }
        return messages.map(\.id)
    }

    /// Measures the eviction when more arrives than the default cache holds, and the file afterwards.
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
