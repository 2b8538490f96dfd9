import Foundation
import GRDB
import Testing
import TidemarkModel
import TidemarkStore

@testable import TidemarkEmbeddedStore

/// The two files of an embedded store in one snapshot: a record that names a blob is never without the blob.
@Suite(.timeLimit(.minutes(1))) struct EmbeddedSnapshotTests {
    private struct Found: Equatable {
        var records = 0
        var blobs = 0
    }

    /// A store whose records are rows of `sync_workspace` and whose blobs are rows of `sync_blob`: the tests count only
    /// these.
    private func withFiles(_ body: (EmbeddedStore, EmbeddedBlobStore, String) throws -> Void) throws {
        let file = TemporaryFile()
        let store = try EmbeddedStore(path: file.path)
        let blobs = try EmbeddedBlobStore(path: EmbeddedBlobStore.path(besides: file.path))
        try body(store, blobs, file.path)
        try store.close()
        try blobs.close()
        try file.remove()
    }

    private func put(_ number: Int, _ blobs: EmbeddedBlobStore) throws {
        let digest = BlobDigest(sha256: [UInt8](repeating: UInt8(number), count: 32)).text
        try blobs.pool.write {
            try $0.execute(sql: "INSERT INTO sync_blob VALUES ('w', ?, 1, 1)", arguments: [digest])
        }
    }

    private func name(_ number: Int, _ store: EmbeddedStore) throws {
        try store.pool.write {
            try $0.execute(sql: "INSERT INTO sync_workspace (workspace) VALUES (?)", arguments: ["w\(number)"])
        }
    }

    private func look(_ path: String, between: () throws -> Void) throws -> Found {
        try EmbeddedSnapshot.with(path, between: between) { snapshot in
            var found = Found()
            for table in StoredTable.audited {
                try snapshot.rows(of: table) { _ in
                    if table.name == "sync_workspace" { found.records += 1 }
                    if table.name == "sync_blob" { found.blobs += 1 }
                }
            }
            return found
        }
    }

    @Test func `a blob that is put and named between the two beginnings is in both, or in neither`() throws {
        try withFiles { store, blobs, path in
            var attempts = 0
            let found = try look(path) {
                attempts += 1
                guard attempts == 1 else { return }
                try put(1, blobs)
                try name(1, store)
            }
            #expect(found == Found(records: 1, blobs: 1) && attempts == 2, "it begins again")
        }
    }

    @Test func `a blob put in between, and named later, is absent without the record that names it`() throws {
        try withFiles { store, blobs, path in
            try put(1, blobs)
            try name(1, store)
            var attempts = 0
            let found = try look(path) {
                attempts += 1
                if attempts <= 3 { try put(1 + attempts, blobs) }
            }
            #expect(found == Found(records: 1, blobs: 4) && attempts == 4)
        }
    }

    @Test func `writes to the records in between are not seen, and nothing begins again`() throws {
        try withFiles { store, _, path in
            var attempts = 0
            let found = try look(path) {
                attempts += 1
                try name(attempts, store)
            }
            #expect(found == Found() && attempts == 1)
        }
    }
}
