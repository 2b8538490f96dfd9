import Foundation
import GRDB
import Testing
import TidemarkModel
import TidemarkStore

@testable import TidemarkEmbeddedStore

/// The marks of erased scopes: each stays as long as its own tombstone, whatever happens to others.
@Suite(.timeLimit(.minutes(5))) struct ErasureMarkTests {
    private static let (first, second) = (LocalID.numbered(100), LocalID.numbered(200))

    /// Erases the first room at time 2,000 and the second one at 4,000, then writes at 9,000.
    private func eraseTwo(_ under: StoreUnderTest) async throws {
        try await under.commit { draft in
            for room in [Self.first, Self.second] {
                draft.put(room, in: ScopeID(record: room), collection: "room")
                draft.grant(.ann, ScopeID(record: room))
            }
        }
        for (room, time) in [(Self.first, 2_000), (Self.second, 4_000)] as [(LocalID, Milliseconds)] {
            let eraser = Eraser(
                store: under.store, erasing: under.store,
                blobs: under.blobs,
                surroundings: Eraser.Surroundings(now: { time }, nonce: { UInt64.random(in: 1...(.max)) }))
            try await eraser.erase(ScopeID(record: room), in: under.workspace, openers: ["room"])
        }
        try await under.commit(time: 9_000) { $0.put(.numbered(60), in: .b) }
    }

    private func compact(_ under: StoreUnderTest, before time: Milliseconds) async throws {
        let store = under.store
        let order = CompactionOrder(time: time, scopeCollections: ["room"])
        while try await !store.compact(under.workspace, order).isDone {}
    }

    private func isRefused(_ room: LocalID, _ under: StoreUnderTest) async throws -> Bool {
        do {
            try await under.commit(time: 9_000) { draft in
                draft.put(.numbered(Int64.random(in: 1_000...1_000_000)), in: ScopeID(record: room))
            }
            return false
        } catch let error as StoreError where error == .erasedScope {
            return true
        }
    }

    @Test(arguments: StoreKind.available)
    func `of two erased scopes one is free when the horizon has passed it, and the other is not`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withStore { under in
            try await eraseTwo(under)
            try await compact(under, before: 3_000)
            #expect(try await !isRefused(Self.first, under))
            #expect(try await isRefused(Self.second, under))
            try await compact(under, before: 5_000)
            #expect(try await !isRefused(Self.second, under))
        }
    }

    @Test func `a compaction that is rolled back opens no erased scope`() async throws {
        try await StoreKind.embedded.withStore { under in
            try await eraseTwo(under)
            // The commit itself fails, after everything in it has succeeded.
            let pool = try #require(under.store as? EmbeddedStore).pool
            try await pool.write { db in
                try db.execute(
                    sql: """
                        CREATE TABLE link (id INTEGER PRIMARY KEY, other INTEGER REFERENCES link DEFERRABLE INITIALLY DEFERRED);
                        CREATE TRIGGER cut AFTER DELETE ON sync_erasure BEGIN INSERT INTO link VALUES (NULL, 99); END;
                        """)
            }
            await #expect(throws: StoreError.self) { try await compact(under, before: 5_000) }
            for room in [Self.first, Self.second] { #expect(try await isRefused(room, under)) }
            try await pool.write { try $0.execute(sql: "DROP TRIGGER cut") }
            try await compact(under, before: 5_000)
            for room in [Self.first, Self.second] { #expect(try await !isRefused(room, under)) }
        }
    }

    @Test(arguments: StoreKind.available)
    func `an erased scope gets no blob, and others still get some`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            try await eraseTwo(under)
            let (blob, scope) = (Blob.filled(with: 9, count: 300_000), ScopeID(record: Self.first))
            await #expect(throws: StoreError.erasedScope) { try await under.put(blob, in: scope) }
            #expect(try await under.blobs.usage(of: under.workspace) == BlobUsage())
            #expect(try await under.put(blob, in: .b) == .kept)
        }
    }

    @Test(arguments: StoreKind.available)
    func `an erased blob is deleted although another workspace has the same bytes, which stay there`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withStore { under in
            let other = WorkspaceID(under.workspace.text + "'")
            let (blob, scope) = (Blob.filled(with: 9, count: 300_000), ScopeID(record: Self.first))
            for workspace in [under.workspace, other] {
                try await under.commit(in: workspace) { $0.put(Self.first, in: scope, collection: "room") }
                try await under.put(blob, in: scope, of: workspace)
            }
            #expect(try await under.blobs.eraseBlobs(of: scope, in: under.workspace).blobs == 1)
            #expect(try await under.blobs.usage(of: under.workspace) == BlobUsage())
            // A new put stores it anew: nothing of it was left.
            #expect(try await under.put(blob, in: .b) == .kept)
            #expect(try await under.blobs.size(of: blob.digest, in: scope, of: under.workspace) == nil)
            #expect(try await under.blobs.usage(of: other) == BlobUsage(blobs: 1, bytes: 300_000))
            #expect(try await under.blobs.part(of: blob.digest, from: 262_144, in: scope, of: other)?.count == 37_856)
            #expect(try await under.blobs.eraseBlobs(by: .ann, in: other).blobs == 1)
            #expect(try await under.blobs.usage(of: other) == BlobUsage())
            #expect(try await under.blobs.usage(of: under.workspace) == BlobUsage(blobs: 1, bytes: 300_000))
        }
    }
}
