import Foundation
import GRDB
import Testing
import TidemarkModel
import TidemarkStore

@testable import TidemarkEmbeddedStore
@testable import TidemarkPostgresStore

/// Unreferenced blobs are deleted in three stages, and no others are.
@Suite(.timeLimit(.minutes(5))) struct BlobCompactionTests {
    private static let day: Milliseconds = 86_400_000
    private static let spans = BlobSpans(kept: 7 * day, withdrawn: day)
    private static let bytes = 300_000

    private func blob(_ number: UInt8) -> Blob { .filled(with: number, count: Self.bytes + Int(number)) }

    private func naming(_ blobs: Blob...) -> String {
        #"{"text":"look: \#(blobs.map(\.digest.text).joined(separator: ", "))"}"#
    }

    private func compaction(_ under: StoreUnderTest, limit: Int = 500) throws -> BlobCompaction {
        BlobCompaction(
            of: under.workspace, Self.spans, records: under.store,
            blobs: under.blobs, limit: limit)
    }

    /// Runs steps until nothing is due on that day, and returns all of them together.
    @discardableResult
    private func compact(
        _ under: StoreUnderTest, day: Int64, limit: Int = 500
    ) async throws -> BlobCompactionStep {
        var compaction = try compaction(under, limit: limit)
        var all = BlobCompactionStep(isDone: false)
        for _ in 0..<1_000 {
            all = all + (try await compaction.step(now: day * Self.day))
            if all.isDone { return all }
        }
        Issue.record("compaction comes to no end")
        return all
    }

    private func put(_ under: StoreUnderTest, _ blob: Blob, in scope: ScopeID = .a, day: Int64 = 1) async throws {
        _ = try await under.blobs.put(blob, in: scope, of: under.workspace, by: .ann, now: day * Self.day)
    }

    private func isThere(_ under: StoreUnderTest, _ blob: Blob, in scope: ScopeID = .a) async throws -> Bool {
        let size = try await under.blobs.size(of: blob.digest, in: scope, of: under.workspace)
        let part = try await under.blobs.part(of: blob.digest, from: 0, in: scope, of: under.workspace)
        #expect((size == nil) == (part == nil))
        return size != nil
    }

    private static let all = DueStages(
        neededBelow: .max, unnamedAbove: BlobStage.withdrawnBound, withdrawnAbove: .min)

    private func stage(
        _ under: StoreUnderTest, _ blob: Blob, among all: DueStages = all
    ) async throws -> BlobStage? {
        try await under.blobs.dueBlobs(of: under.workspace, all).first { $0.digest == blob.digest }?.stage
    }

    @Test(arguments: StoreKind.available)
    func `an unreferenced blob is unnamed, then withdrawn, then deleted, and a referenced one stays`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withStore { under in
            let (named, lonely) = (blob(1), blob(2))
            for blob in [named, lonely] { try await put(under, blob) }
            try await put(under, lonely, in: .b)
            try await under.commit { $0.put(.numbered(1), in: .a, body: naming(named)) }
            #expect(try await compact(under, day: 8).unnamed == 0, "the young are left alone")
            #expect(try await compact(under, day: 9).unnamed == 1)
            #expect(try await stage(under, named) == .needed(since: 9 * Self.day))
            #expect(try await compact(under, day: 16).withdrawn == 0)
            #expect(try await isThere(under, lonely))
            #expect(try await compact(under, day: 17).withdrawn == 1)
            for scope: ScopeID in [.a, .b] { #expect(try await !isThere(under, lonely, in: scope)) }
            #expect(try await under.blobs.usage(of: under.workspace).blobs == 2, "the bytes are there for a day")
            #expect(try await compact(under, day: 18).taken == BlobUsage())
            let taken = try await compact(under, day: 19).taken
            #expect(taken == BlobUsage(blobs: 1, bytes: Int64(lonely.bytes.count)))
            #expect(
                try await under.blobs.usage(of: under.workspace)
                    == BlobUsage(blobs: 1, bytes: Int64(named.bytes.count)))
            #expect(try await isThere(under, named))
            #expect(try await stage(under, lonely) == nil)
            // Nothing of it affects the next one.
            #expect(try await under.put(lonely, in: .b) == .kept)
            #expect(try await isThere(under, lonely, in: .b))
            #expect(try await !isThere(under, lonely))
        }
    }

    @Test(arguments: StoreKind.available)
    func `a put of the same bytes renews a blob in every stage`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            let found = blob(1)
            try await put(under, found)
            for (stages, start) in [(0, 100), (1, 200), (2, 300)] as [(Int, Int64)] {
                try await put(under, found, day: start - 50)
                if stages > 0 { #expect(try await compact(under, day: start).unnamed == 1) }
                if stages > 1 { #expect(try await compact(under, day: start + 8).withdrawn == 1) }
                let receipt = try await under.blobs.put(
                    found, in: .a, of: under.workspace, by: .bob, now: (start + 10) * Self.day)
                #expect(receipt == .wasThere)
                #expect(try await stage(under, found) == .needed(since: (start + 10) * Self.day))
                #expect(try await isThere(under, found))
                #expect(try await compact(under, day: start + 17) == BlobCompactionStep(isDone: true))
            }
            #expect(try await under.blobs.usage(of: under.workspace).blobs == 1)
        }
    }

    @Test(arguments: StoreKind.available)
    func `a put during the search for names wins, in each of the three stages`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            let found = blob(1)
            try await put(under, found)
            for (index, day) in ([20, 40, 60] as [Int64]).enumerated() {
                for before in 0..<index { try await compact(under, day: day - Int64(20 - before * 8)) }
                var compaction = try compaction(under)
                // It is found, and searched for in its scope.
                for _ in 0..<3 { _ = try await compaction.step(now: day * Self.day) }
                try await put(under, found, day: day)
                var all = BlobCompactionStep(isDone: false)
                while !all.isDone { all = all + (try await compaction.step(now: day * Self.day)) }
                #expect(!all.didSomething)
                #expect(try await isThere(under, found))
                #expect(try await stage(under, found) == .needed(since: day * Self.day))
                // For the next round.
                try await put(under, found, day: 1)
            }
        }
    }

    @Test(arguments: StoreKind.available)
    func `a name that returns makes a blob needed, also one that is withdrawn`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            let found = blob(1)
            try await put(under, found)
            try await compact(under, day: 10)
            #expect(try await compact(under, day: 20).withdrawn == 1)
            try await under.commit { $0.put(.numbered(1), in: .a, body: naming(found)) }
            #expect(try await compact(under, day: 30).taken.blobs == 0)
            #expect(try await isThere(under, found))
            #expect(try await stage(under, found) == .needed(since: 30 * Self.day))
        }
    }

    @Test(arguments: StoreKind.available)
    func `only names in the blob's scopes matter, in living records and in overwritten values`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withStore { under in
            let (elsewhere, dead, overwritten, shared) = (blob(1), blob(2), blob(3), blob(4))
            for blob in [elsewhere, dead, overwritten, shared] { try await put(under, blob) }
            try await put(under, shared, in: .c)
            try await under.commit { draft in
                draft.put(.numbered(1), in: .b, body: naming(elsewhere))
                draft.put(.numbered(2), in: .a, body: naming(dead))
                draft.put(.numbered(3), in: .a, body: "{}")
                draft.put(.numbered(4), in: .c, body: naming(shared))
            }
            try await under.commit { draft in
                draft.put(.numbered(2), in: .a, born: 2, body: nil)
                let seq = draft.put(.numbered(3), in: .a, born: 3, body: "{}")
                draft.tamper { batch in
                    batch.ledger.append(
                        LedgerEntry(
                            key: RecordKey(collection: "message", id: .numbered(3)), scope: .a, seq: seq,
                            value: OverwrittenValue(
                                field: "file", rule: .lww, old: .string(overwritten.digest.text), new: nil),
                            oldAuthor: nil, author: .ann, client: .numbered(1), app: nil, time: 1_000))
                }
            }
            #expect(try await compact(under, day: 10).unnamed == 2)
            for (blob, isNamed) in [(elsewhere, false), (dead, false), (overwritten, true), (shared, true)] {
                let stage: BlobStage = isNamed ? .needed(since: 10 * Self.day) : .unnamed(since: 10 * Self.day)
                #expect(try await self.stage(under, blob) == stage)
            }
        }
    }

    @Test(arguments: StoreKind.available)
    func `a name that moves to another record during the search is not missed`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            let found = blob(1)
            try await put(under, found)
            for number: Int64 in 1...5 { try await under.commit { $0.put(.numbered(number), in: .a) } }
            try await under.commit { $0.put(.numbered(6), in: .a, body: naming(found)) }
            var compaction = try compaction(under, limit: 2)
            for _ in 0..<3 { _ = try await compaction.step(now: 10 * Self.day) }
            // The second record was read; now it gets the name.
            try await under.commit { draft in
                draft.put(.numbered(2), in: .a, born: 2, body: naming(found))
                draft.put(.numbered(6), in: .a, born: 6, body: nil)
            }
            var all = BlobCompactionStep(isDone: false)
            while !all.isDone { all = all + (try await compaction.step(now: 10 * Self.day)) }
            #expect(try await stage(under, found) == .needed(since: 10 * Self.day))
        }
    }

    @Test(arguments: StoreKind.available)
    func `a step deletes at most twenty blobs, and at most 16 MiB`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            let small = (0..<45).map { Blob.filled(with: $0, count: 10 + Int($0)) }
            let large = (100..<103).map { Blob.filled(with: $0, count: 9 << 20) }
            for blob in small + large { try await put(under, blob) }
            try await compact(under, day: 10)
            try await compact(under, day: 20)
            var compaction = try compaction(under)
            var steps: [BlobUsage] = []
            var isDone = false
            while !isDone {
                let step = try await compaction.step(now: 30 * Self.day)
                if step.taken.blobs > 0 { steps.append(step.taken) }
                isDone = step.isDone
            }
            #expect(steps.allSatisfy { $0.blobs <= 20 && ($0.bytes <= 16 << 20 || $0.blobs == 1) })
            #expect(steps.reduce(0) { $0 + $1.blobs } == 48 && steps.count >= 4, "\(steps)")
            #expect(try await under.blobs.usage(of: under.workspace) == BlobUsage())
        }
    }

    /// The state between two steps is lost with the process.
    @Test(arguments: StoreKind.available)
    func `ended after any step and begun again, it deletes only unreferenced blobs`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withStore { under in
            let named = (0..<3).map { Blob.filled(with: $0, count: 10 + Int($0)) }
            for number: Int64 in 1...6 {
                try await under.commit { draft in
                    draft.put(.numbered(number), in: .a, body: naming(named[Int(number) % 3]))
                }
            }
            for steps in 0..<10 {
                let lonely = Blob.filled(with: 100, count: 50 + steps)
                let start = Int64(steps) * 100
                for blob in named + [lonely] { try await put(under, blob, day: start + 1) }
                for day in [start + 10, start + 20, start + 30] {
                    var cut = try compaction(under, limit: 2)
                    for _ in 0..<steps where try await !cut.step(now: day * Self.day).isDone {}
                    try await compact(under, day: day, limit: 2)
                    for blob in named { #expect(try await isThere(under, blob), "\(steps) steps") }
                }
                #expect(try await !isThere(under, lonely))
                #expect(try await under.blobs.usage(of: under.workspace).blobs == 3, "after \(steps) steps")
            }
        }
    }

    /// Puts as many blobs as a scope has, and one blob into more scopes than are searched.
    @Test func `scopes of a search are bounded, and a blob in very many is treated as named`() async throws {
        try await StoreKind.memory.withStore { under in
            let everywhere = Blob.filled(with: 1, count: 5)
            for number in 0..<DueBlob.pairsMax {
                try await put(under, everywhere, in: ScopeID("s\(number)"))
            }
            try await put(under, blob(2))
            #expect(try await compact(under, day: 10).unnamed == 1)
            var needed = Self.all
            needed.unnamedAbove = 0
            #expect(try await stage(under, everywhere, among: needed) == .needed(since: 10 * Self.day))
            var unnamed = Self.all
            unnamed.neededBelow = 0
            #expect(try await stage(under, blob(2), among: unnamed) == .unnamed(since: 10 * Self.day))
        }
    }

    @Test func `the file of blobs becomes smaller, and a withdrawn blob stays so in a later process`() async throws {
        let file = TemporaryFile()
        let path = EmbeddedBlobStore.path(besides: file.path)
        let records = InMemoryStore()
        func under(_ blobs: EmbeddedBlobStore) -> StoreUnderTest {
            StoreUnderTest(store: records, blobs: blobs, workspace: WorkspaceID("w"))
        }
        func size() throws -> Int {
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            return try #require(attributes[.size] as? Int)
        }
        var blobs = try EmbeddedBlobStore(path: path)
        for number: UInt8 in 1...4 { try await put(under(blobs), blob(number)) }
        for day: Int64 in [10, 20, 30] {
            try await compact(under(blobs), day: day)
            if day == 30 { while try await blobs.giveBackBlobs(pages: 64) > 0 {} }
            try blobs.close()
            blobs = try EmbeddedBlobStore(path: path)
        }
        #expect(try await blobs.usage(of: WorkspaceID("w")) == BlobUsage())
        let left = try size()
        #expect(left < 200_000, "\(left) bytes")
        try blobs.close()
        try file.remove()
    }
}
