import Foundation
import Testing
import TidemarkAssembly
import TidemarkLock
import TidemarkModel
import TidemarkOperations
import TidemarkStore

@testable import TidemarkEmbeddedStore

/// Backups of both stores, made while the store is open, and their restored contents.
@Suite(.timeLimit(.minutes(10))) struct BackupTests {
    /// Tables of the database's own, and those that a restore or a backup writes.
    private static let own = [
        "sync_fence", "sync_step", "sync_listener", "sync_backup", "sync_lineage", "sync_batch",
        // Opening a file files recent records.
        "sync_feed", "sync_page", "sync_filing",
    ]

    @Test(arguments: BackupGround.kinds)
    func `every table is restored unchanged, with the counts and digests of the manifest`(
        _ kind: StoreKind
    ) async throws {
        try await BackupGround.with(kind) { ground in
            try await ground.fill()
            let made = try await ground.backup()
            #expect(try await ground.findings() == [])
            let before = try await ground.tables(ground.database)
            try await ground.restore()
            let after = try await ground.tables(ground.target)
            #expect(Set(after.keys) == Set(before.keys) && before.count > 10)
            for (table, rows) in before where !Self.own.contains(table) {
                #expect(after[table] == rows && !rows.isEmpty || table == "sync_schema", "\(table)")
            }
            // A new epoch has begun since, with a batch of its own.
            let batches = try #require(before["sync_batch"])
            #expect(Set(batches).isSubset(of: after["sync_batch"] ?? []) && batches.count == 8)
            #expect(after["sync_batch"]?.count == 10 && after["sync_lineage"]?.count == 2)
            #expect(after["sync_lineage"]?.allSatisfy { $0.contains("restore") } == true)
            #expect(try await ground.findings(of: ground.target) == [])
            let summary = try #require(
                made.folder.manifest.summaries.first { $0.workspace == ground.under.workspace })
            #expect(summary.head.seq == 26 && summary.digest.count == 23 && summary.tombstones == 1)
            #expect(summary.clients == 1 && summary.ledger == 1 && summary.blobs == BlobUsage(blobs: 4, bytes: 962_146))
            #expect(summary.digest == (try await Self.digest(ground.under)))
        }
    }

    /// The digest by the calls that nodes make.
    private static func digest(_ under: StoreUnderTest) async throws -> RecordDigest {
        var digest = RecordDigest()
        for window in try await under.windows([.a, .b, .c], span: 1_000) {
            for record in window.records where !record.isDeleted {
                digest.insert(record.key, at: record.seq, body: record.body)
            }
        }
        return digest
    }

    // A Citus has no common moment of all its machines: deploy/citus.md.
    @Test(arguments: BackupGround.kinds.filter { $0 != .postgres || !TestSchema.isSpread })
    func `a backup shows one moment, whatever is written and put meanwhile`(_ kind: StoreKind) async throws {
        try await BackupGround.with(kind) { ground in
            try await ground.fill()
            let isOver = Flag()
            try await withThrowingDiscardingTaskGroup { group in
                group.addTask {
                    var number = Int64(1_000)
                    while !isOver.isUp {
                        number += 1
                        try await ground.under.commit { draft in
                            for offset in Int64(0)..<5 {
                                draft.put(.numbered(number * 10 + offset), in: [.a, .b, .c][Int(number % 3)])
                            }
                        }
                        try await ground.under.put(.honest(Int(number)), in: .a)
                    }
                }
                defer { isOver.raise() }
                for name in ["one", "two", "three"] {
                    let before = try await ground.head()
                    let made = try await ground.backup(name)
                    let after = try await ground.head()
                    let summary = made.folder.manifest.summaries.first { $0.workspace == ground.under.workspace }
                    let found = try #require(summary)
                    #expect(found.head.seq >= before && found.head.seq <= after)
                    // Records and blobs are of one moment: after each batch one blob is put.
                    let (batches, blobs) = (Int(found.batches) - 7, found.blobs.blobs - 4)
                    #expect(batches == blobs || batches == blobs + 1, "\(batches) batches, \(blobs) blobs")
                }
            }
            // Batches were written meanwhile.
            #expect(try await ground.head() > 26)
            for name in ["one", "two", "three"] { #expect(try await ground.findings(name) == []) }
            try await ground.restore("two")
            #expect(try await ground.findings(of: ground.target) == [])
            // No connection holds the log.
            #expect(try await ground.findings(of: ground.database) == [])
        }
    }

    @Test(arguments: BackupGround.kinds)
    func `an existing target is left unchanged, and named`(_ kind: StoreKind) async throws {
        try await BackupGround.with(kind) { ground in
            try await ground.fill()
            _ = try await ground.backup()
            let there = await #expect(throws: BackupError.self) { try await ground.backup() }
            #expect(there?.description.contains("/backup is there already, and is left as it is") == true)
            let nowhere = await #expect(throws: BackupError.self) { try await ground.backup("no/such/folder") }
            #expect(nowhere?.description.contains("/no/such, in which to write the backup, does not exist") == true)
            let used = try await Self.refusal { try await ground.restore(into: ground.database) }
            #expect(
                used.contains(kind == .embedded ? "another server uses" : "has tables of Tidemark's, and servers"),
                "\(used)")
            try await ground.restore()
            let full = try await Self.refusal { try await ground.restore() }
            #expect(
                full.contains(kind == .embedded ? "target.sqlite exists already" : "has tables of Tidemark's"),
                "\(full)")
        }
    }

    static func refusal(_ body: () async throws -> some Any) async throws -> String {
        do { _ = try await body() } catch let error as BackupError { return error.description } catch {
            return "\(error)"
        }
        return ""
    }

    @Test(arguments: BackupGround.kinds)
    func `a verified backup is recorded where a node reads it, and no other is`(_ kind: StoreKind) async throws {
        try await BackupGround.with(kind) { ground in
            try await ground.fill()
            let log = try ground.log
            _ = try await ground.backup("unverified", verifies: false)
            #expect(try await log.lastVerifiedBackup() == nil)
            let made = try await ground.backup()
            let manifest = made.folder.manifest
            #expect(try await log.lastVerifiedBackup() == manifest.taken)
            let noted = try #require(try await log.verifiedBackup(of: ground.under.workspace))
            #expect(manifest.summaries.map(\.head).contains(noted.head) && noted.head.seq == 26)
            #expect(noted.verified >= noted.taken && noted.taken == manifest.taken)
            #expect(try await log.verifiedBackup(of: WorkspaceID("nobody's")) == nil)
        }
    }

    @Test(arguments: BackupGround.kinds)
    func `a backup of a damaged database is refused with the damage`(_ kind: StoreKind) async throws {
        try await BackupGround.with(kind) { ground in
            try await ground.fill()
            try await ground.run("DELETE FROM sync_batch WHERE seq = 8")
            let refused = try await Self.refusal { try await ground.backup() }
            #expect(refused.contains("the numbers 5–8 are in no batch"), "\(refused)")
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: ground.folder).filter { $0.hasPrefix("backup") }
                    == [])
        }
    }
}

/// A flag that ends a task.
private final class Flag: Sendable {
    private let state = Lock(false)

    var isUp: Bool { state.withLock { $0 } }

    func raise() { state.withLock { $0 = true } }
}

extension BackupGround {
    func head() async throws -> SequenceNumber {
        try await under.store.session(for: .ann, client: nil, in: under.workspace).head.seq
    }

    var log: any BackupLog {
        get throws {
            if case .sqlite(let path) = database { return EmbeddedBackupNote(beside: path) }
            return try #require(under.store as? any BackupLog)
        }
    }
}
