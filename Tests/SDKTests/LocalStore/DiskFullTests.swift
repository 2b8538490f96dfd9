import Foundation
import GRDB
import Testing
import TidemarkModel

@testable import Tidemark

@Suite struct DiskFullTests {
    @Test func `on a full disk writes throw and reads continue, and with space everything works`() async throws {
        let folder = try TemporaryFolder()
        let store = try await SyncStore.open(
            account: Bench.user, at: folder.url, schema: try TestSchema.schema())
        let notes = store.repository(Note.self)
        let first = Note(room: UUID(), text: "first")
        try await notes.create(first)
        try await store.database.setRoom(pages: 0)
        var refused: StoreError?
        for _ in 0..<2_000 where refused == nil {
            do {
                try await notes.create(Note(room: UUID(), text: String(repeating: "x", count: 90)))
            } catch {
                refused = error as? StoreError
            }
        }
        #expect(refused?.code == .diskFull)
        #expect(try await notes.read(first.id)?.text == "first")
        let pending = try await store.outbox.pendingCount.first { _ in true }
        #expect(try await notes.readAll().count == pending)
        try await store.database.setRoom(pages: 10_000)
        try await notes.create(Note(room: UUID(), text: "last"))
        #expect(try await notes.readAll().count == (pending ?? 0) + 1)
    }
}

extension LocalDatabase {
    /// Lets the file grow by this many pages and no more.
    func setRoom(pages: Int64) async throws {
        try await writer.writeWithoutTransaction { db in
            let now = try Int64.fetchOne(db, sql: "PRAGMA page_count") ?? 0
            try db.execute(sql: "PRAGMA max_page_count = \(now + pages)")
        }
    }
}
