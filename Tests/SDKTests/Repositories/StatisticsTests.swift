import Foundation
import GRDB
import Testing
import TidemarkModel
import TidemarkWire

@testable import Tidemark

@Suite struct StatisticsTests {
    private let room = RecordKey.room(1).scope

    private func store(_ folder: TemporaryFolder) async throws -> SyncStore {
        try await SyncStore.open(account: Bench.user, at: folder.url, schema: try TestSchema.schema())
    }

    private func fill(_ store: SyncStore) throws {
        let bench = Bench(database: store.database)
        try bench.join(room)
        try bench.page(room, "rooms", .room(1, seq: 1))
        try bench.page(room, "notes", .note(1, seq: 2), .note(2, seq: 3), .note(3, seq: 4))
        try bench.write(1, .set(.note(1), "text", "mine"))
        try bench.write(2, .note(9))
        try bench.write(3, .set(.note(2), "text", "refused"))
        try bench.apply(from: "c0", to: "c1", settled: nil)
    }

    @Test func `statistics count rows, waiting writes, and bytes`() async throws {
        let folder = try TemporaryFolder()
        let store = try await store(folder)
        try fill(store)
        let statistics = try await store.statistics()
        #expect(statistics.collections["notes"] == .init(all: 4, pending: 3, failed: 0))
        #expect(statistics.collections["people"] == .init(all: 0, pending: 0, failed: 0))
        #expect(statistics.rows == 5 && statistics.pending == 3 && statistics.rejected == 0)
        #expect(statistics.usedBytes > 0 && statistics.fileBytes >= statistics.usedBytes)
        var policy = CachePolicy()
        policy.age = .seconds(1)
        #expect(try await store.evict(policy) == 1)
        #expect(try await store.statistics().evicted == 1)
    }

    @Test func `clearing the cache leaves pending writes, and everything is requested again`() async throws {
        let folder = try TemporaryFolder()
        let store = try await store(folder)
        try fill(store)
        try await store.clearCache()
        let bench = Bench(database: store.database)
        #expect(try await store.statistics().collections["notes"]?.all == 3)
        #expect(try await store.statistics().pending == 3)
        #expect(try bench.fields(.note(1))?["text"] == "mine")
        #expect(try bench.row(.note(3)) == nil)
        #expect(try store.database.nextPages(limit: 9).map(\.collection) == ["rooms"])
        try bench.page(room, "rooms", .room(1, seq: 1))
        #expect(try store.database.nextPages(limit: 9).map(\.collection) == ["notes"])
        try bench.page(room, "notes", .note(3, seq: 4), .note(1, seq: 2))
        #expect(try bench.row(.note(3)) != nil)
        #expect(try bench.fields(.note(1))?["text"] == "mine")
    }

    @Test func `signing out keeps nothing, or pending writes`() async throws {
        let folder = try TemporaryFolder()
        let first = try await store(folder)
        try fill(first)
        try await first.signOut(keeping: .pending)
        let second = try await store(folder)
        #expect(try await second.statistics().pending == 3)
        #expect(try await second.statistics().collections["notes"]?.all == 3)
        try await second.signOut(keeping: .nothing)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["tidemark.install"])
        #expect(try await store(folder).statistics().rows == 0)
    }

    @Test func `signing out keeps nothing of a damaged file either`() async throws {
        let file = try FileDamage()
        try file.fill { try $0.write(1, .note(1)) }
        try file.overwriteHeader()
        let schema = try TestSchema.schema()
        let store = try await SyncStore.open(account: Bench.user, at: file.folder.url, schema: schema)
        let other = try await SyncStore.open(account: UserID("ann2"), at: file.folder.url, schema: schema)
        func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: file.folder.url.path) }
        #expect(try names().contains { $0.contains(".corrupt-") })
        try Data("left by a process that died".utf8).write(to: URL(fileURLWithPath: file.path + ".corrupt-1-wal"))
        try await store.signOut(keeping: .nothing)
        #expect(try names().filter { $0.hasPrefix(DatabaseFile.name(Bench.user)) } == [])
        #expect(try await other.statistics().rows == 0, "another account's file is left alone")
        #expect(try names().contains(DatabaseFile.name(UserID("ann2"))))
    }

    @Test func `a preview holds its records as if they were synced`() async throws {
        let room = Room(people: ["ann"], title: "shown")
        let note = Note(room: room.id, text: "hello")
        let store = try SyncStore.preview(schema: try TestSchema.schema(), records: [room, note])
        #expect(try await store.repository(Room.self).readAll() == [room])
        #expect(try await store.repository(Note.self).read(note.id)?.syncState == .synced)
        #expect(try await store.statistics().pending == 0)
        #expect(throws: StoreError.self) {
            _ = try SyncStore.preview(
                schema: try TestSchema.schema(), records: [Note(room: UUID(), text: String(repeating: "x", count: 200))]
            )
        }
    }
}
