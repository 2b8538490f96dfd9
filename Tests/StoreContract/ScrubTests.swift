import Foundation
import GRDB
import Testing
import TidemarkLock
import TidemarkModel

@testable import TidemarkEmbeddedStore
@testable import TidemarkStore

/// The files of SQLite are rewritten once, whatever reads them meanwhile.
@Suite(.timeLimit(.minutes(5))) struct ScrubTests {
    private static let scope = ScopeID(record: .numbered(100))
    private static let secret = "a-secret-that-must-go"

    /// Runs with a store of some megabytes, and another connection that can begin to read its file.
    private func withStore(_ body: (StoreUnderTest, DatabaseQueue, TemporaryFile) async throws -> Void) async throws {
        let file = TemporaryFile()
        var options = EmbeddedStore.Options()
        options.busySeconds = 0.01
        let store = try EmbeddedStore(path: file.path, options: options)
        let under = StoreUnderTest(store: store)
        let text = String(repeating: Self.secret, count: 2_000)
        for number: Int64 in 1...50 {
            try await under.commit { $0.put(.numbered(number), in: number < 5 ? Self.scope : .b, body: "\"\(text)\"") }
        }
        _ = try await store.emptyLog()
        var configuration = Configuration()
        // It continues its read between two calls.
        configuration.allowsUnsafeTransactions = true
        let other = try DatabaseQueue(path: file.path, configuration: configuration)
        try await body(under, other, file)
        try other.close()
        try store.close()
        try file.remove()
    }

    private func bytes(_ path: String) throws -> Int64 {
        try #require(try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int64)
    }

    private func erase(
        _ under: StoreUnderTest, pause: @escaping @Sendable () throws -> Void = {},
        tell: (Eraser.Phase) throws -> Void = { _ in }
    ) async throws -> [Eraser.Phase] {
        var limits = Eraser.Limits()
        limits.triesMax = 6
        let eraser = Eraser(
            store: under.store, erasing: under.store, blobs: nil, limits: limits,
            surroundings: Eraser.Surroundings(
                now: { 2_000 }, nonce: { UInt64.random(in: 1...(.max)) }, pause: { if $0 { try pause() } }))
        var phases: [Eraser.Phase] = []
        var failure: (any Error)?
        try await eraser.erase(Self.scope, in: under.workspace, openers: ["room"]) { progress in
            if phases.last != progress.phase { phases.append(progress.phase) }
            do { try tell(progress.phase) } catch { failure = error }
        }
        if let failure { throw failure }
        return phases
    }

    @Test func `beside a lasting reader no file is rewritten, the reason is reported, and it is done later`()
        async throws
    {
        try await withStore { under, other, file in
            try await other.write { _ in }
            try other.inDatabase { try $0.execute(sql: "BEGIN; SELECT count(*) FROM sync_record;") }
            let phases = Lock<[Eraser.Phase]>([])
            let error = await #expect(throws: StoreError.self) {
                _ = try await erase(under, tell: { phase in phases.withLock { $0.append(phase) } })
            }
            #expect(error?.reason.contains("another program reads the database file") == true, "\(error?.reason ?? "")")
            #expect(phases.withLock { $0.last } == .readers)
            #expect(try bytes(file.path + "-wal") < bytes(file.path) / 2, "no copy of the file is in the log")
            try other.inDatabase { try $0.execute(sql: "COMMIT") }
            #expect(try await erase(under).suffix(2) == [.files, .done])
            #expect(try bytes(file.path + "-wal") == 0)
        }
    }

    @Test func `beside a reader that begins during the rewriting, only the log is emptied again`() async throws {
        try await withStore { under, other, file in
            let pauses = Lock(0)
            let sizes = Lock<[Int64]>([])
            let phases = try await erase(
                under,
                pause: {
                    try sizes.withLock { $0.append(try bytes(file.path + "-wal")) }
                    let count = pauses.withLock { pauses in
                        pauses += 1
                        return pauses
                    }
                    if count == 4 { try other.inDatabase { try $0.execute(sql: "COMMIT") } }
                },
                tell: { phase in
                    guard phase == .files else { return }
                    try other.inDatabase { try $0.execute(sql: "BEGIN; SELECT count(*) FROM sync_record;") }
                })
            #expect(phases.suffix(3) == [.files, .readers, .done])
            let found = sizes.withLock { $0 }
            #expect(found.count == 4 && Set(found).count == 1, "the log grew by one copy: \(found)")
            #expect(try bytes(file.path + "-wal") == 0)
        }
    }

    @Test func `a full disk is reported at once`() async throws {
        try await withStore { under, _, _ in
            let tries = Lock(0)
            let pool = try #require(under.store as? EmbeddedStore).pool
            try await pool.writeWithoutTransaction { db in
                let pages = try Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0
                try db.execute(sql: "PRAGMA max_page_count = \(pages)")
            }
            let text = String(repeating: "x", count: 100_000)
            let eraser = Eraser(
                store: under.store, erasing: under.store, blobs: nil,
                surroundings: Eraser.Surroundings(
                    now: { 2_000 }, nonce: { 7 }, pause: { _ in tries.withLock { $0 += 1 } }))
            let error = await #expect(throws: StoreError.self) {
                try await eraser.commit(ReadSet(), in: under.workspace) { state in
                    var draft = BatchDraft(after: state.head)
                    draft.put(.numbered(900), in: .c, body: "\"\(text)\"")
                    return draft.batch
                }
            }
            #expect(error?.fault == .full && tries.withLock { $0 } == 0)
        }
    }
}
