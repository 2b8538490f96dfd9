import Foundation
import Testing
import TidemarkModel
import TidemarkPostgres
import TidemarkStore

@testable import TidemarkEmbeddedStore
@testable import TidemarkPostgresStore

/// An erased scope leaves nothing, whatever happens meanwhile, and all others keep everything.
@Suite(.timeLimit(.minutes(5))) struct ErasureTests {
    /// A text in everything that the scope holds.
    static let secret = "a-secret-that-must-go"
    static let room = LocalID.numbered(100)
    static let scope = ScopeID(record: room)

    struct Cut: Error {}

    /// Erases as a command would, interrupted at the step with that number.
    @discardableResult
    static func erase(
        _ under: StoreUnderTest, scope: ScopeID = scope, stepRows: Int = 2, cutAt step: Int? = nil,
        tell: (Eraser.Progress) -> Void = { _ in }
    ) async throws -> Eraser.Progress? {
        var limits = Eraser.Limits()
        (limits.stepRows, limits.endsPerBatch, limits.membersPerStep, limits.triesMax) = (stepRows, 2, 3, 3)
        let steps = Counter()
        let eraser = Eraser(
            store: under.store, erasing: under.store,
            blobs: under.blobs, limits: limits,
            surroundings: Eraser.Surroundings(
                now: { 2_000 }, nonce: { UInt64.random(in: 1...(.max)) },
                pause: { _ in if await steps.next() == step { throw Cut() } }))
        return try await eraser.erase(scope, in: under.workspace, openers: ["room", "hall"], tell: tell)
    }

    /// Writes a room with five members, eight notes (two of them deleted), a ledger and a blob, beside another user's
    /// scope.
    static func fill(_ under: StoreUnderTest) async throws {
        _ = try await under.store.follow(under.workspace, node: 77, now: 1_000)
        try await under.commit { draft in
            draft.put(room, in: scope, collection: "room", body: #"{"title":"\#(secret)"}"#)
            for user in ["ann", "bob", "cyd", "dan", "eve"] { draft.grant(UserID(user), scope) }
            draft.grant(.ann, .b)
        }
        for number: Int64 in 1...8 {
            try await under.commit { draft in
                draft.put(.numbered(number), in: scope, body: #"{"text":"\#(secret)"}"#)
                draft.put(.numbered(number + 20), in: .b, body: #"{"text":"stays \#(number)"}"#)
            }
        }
        var born: [Int64: SequenceNumber] = [:]
        let page = try await under.store.page(
            scope: scope, collection: "message", before: .max, limit: 9, in: under.workspace)
        for record in page.records { born[Int64(record.key.id.low & 0xff)] = record.born }
        for number: Int64 in [3, 8] {
            try await under.commit { $0.put(.numbered(number), in: scope, born: born[number], body: nil) }
        }
        try await under.commit { draft in
            for (id, scope, text) in [(1, Self.scope, secret), (21, .b, "old")] as [(Int64, ScopeID, String)] {
                let seq = draft.skip()
                draft.tamper { batch in
                    batch.ledger.append(
                        LedgerEntry(
                            key: RecordKey(collection: "message", id: .numbered(id)), scope: scope, seq: seq,
                            value: OverwrittenValue(field: "text", rule: .lww, old: .string(text), new: "new"),
                            oldAuthor: .ann, author: .bob, client: .numbered(7), app: nil, time: 1_000))
                }
            }
        }
        for (seed, size, scopes) in [(1, 300_000, [Self.scope]), (2, 1_000, [Self.scope, .b]), (3, 10, [.b])]
            as [(UInt8, Int, [ScopeID])]
        {
            for scope in scopes {
                _ = try await under.blobs.put(
                    .filled(with: seed, count: size), in: scope, of: under.workspace, by: .ann, now: 1_000)
            }
        }
    }

    /// Checks everything that must be true once the scope is erased, however often the erasure was begun.
    static func check(_ under: StoreUnderTest) async throws {
        let (store, workspace) = (under.store, under.workspace)
        for user in ["ann", "bob", "cyd", "dan", "eve"] {
            let grants = try await store.session(for: UserID(user), client: nil, in: workspace).grants
            #expect(grants.map(\.scope) == (user == "ann" ? [.b] : []), "\(user)")
        }
        let left = try await store.window(scopes: [scope], after: 0, span: .max, in: workspace)
        #expect(
            left.records.map(\.key) == [RecordKey(collection: "room", id: room)],
            "the tombstone says that the id is taken")
        #expect(left.records.allSatisfy { $0.isDeleted && $0.author == .erased })
        for collection in ["message", "room"] {
            let page = try await store.page(scope: scope, collection: collection, before: .max, limit: 9, in: workspace)
            #expect(page.records.isEmpty)
        }
        let other = try await store.page(scope: .b, collection: "message", before: .max, limit: 99, in: workspace)
        #expect(other.records.count == 8)
        func history(_ id: Int64, _ scope: ScopeID) async throws -> Int {
            try await store.history(
                of: RecordKey(collection: "message", id: .numbered(id)), scope: scope, before: .max, limit: 9,
                in: workspace
            ).entries.count
        }
        #expect(try await history(1, scope) == 0)
        #expect(try await history(21, .b) == 1)
        let sizes = try await [1, 2, 3].asyncMap { (seed: UInt8) in
            let blob = Blob.filled(with: seed, count: [0, 300_000, 1_000, 10][Int(seed)])
            return [
                try await under.blobs.size(of: blob.digest, in: scope, of: workspace),
                try await under.blobs.size(of: blob.digest, in: .b, of: workspace),
            ]
        }
        #expect(sizes == [[nil, nil], [nil, 1_000], [nil, 10]])
        #expect(try await under.blobs.usage(of: workspace) == BlobUsage(blobs: 2, bytes: 1_010))
        let counts = try await store.erasureCounts(of: scope, in: workspace)
        #expect(counts.records == 0 && counts.tombstones == 1 && counts.ledgerEntries == 0 && counts.bytes == 0)
        try await checkOrder(under)
    }

    /// Checks that batches tile, none contains erased text, and the order continues.
    private static func checkOrder(_ under: StoreUnderTest) async throws {
        let all = try await under.store.tail(after: 0, limit: 1_000, in: under.workspace).batches
        var next: SequenceNumber = 1
        for batch in all {
            #expect(batch.low == next, "I-01")
            next = batch.head.seq + 1
            #expect(batch.batch?.records.allSatisfy { $0.scope != scope || $0.isDeleted } ?? true)
        }
        let head = try await under.store.session(for: .ann, client: nil, in: under.workspace).head
        #expect(head.seq == next - 1)
        #expect(all.last?.batch?.forgets == true, "nodes forget what they remember")
        try await under.commit { $0.put(.numbered(Int64.random(in: 1_000...1_000_000)), in: .c) }
    }

    @Test(arguments: StoreKind.available)
    func `nothing of an erased scope is left, and everything of another`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            try await Self.fill(under)
            let erasing = under.store
            let planned = try await erasing.erasureCounts(of: Self.scope, in: under.workspace)
            let usage = try await under.blobs
                .erasureUsage(of: Self.scope, in: under.workspace)
            #expect(planned.records == 7 && planned.tombstones == 2 && planned.ledgerEntries == 1)
            #expect(usage == BlobUsage(blobs: 2, bytes: 300_000), "bytes that another scope has stay")
            let done = try await Self.erase(under)
            #expect(done?.ends == 5 && done?.phase == .done && done?.blobs.blobs == 2)
            #expect(done?.step.records == 8, "the room's own becomes a tombstone")
            #expect(done?.step.ledgerEntries == planned.ledgerEntries)
            try await Self.check(under)
        }
    }

    @Test(arguments: StoreKind.available)
    func `interrupted at any step, it does the rest when it is called again`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            try await Self.fill(under)
            var cuts = 0
            let erasing = under.store
            for step in 1...100 {
                do {
                    try await Self.erase(under, stepRows: 1, cutAt: step % 4 + 1)
                    break
                } catch is Cut {
                    cuts += 1
                    #expect(try await erasing.openErasures(in: under.workspace) == [Self.scope])
                }
            }
            while try await erasing.openErasures(in: under.workspace) != [] { try await Self.erase(under) }
            #expect(cuts > 5)
            try await Self.check(under)
            let again = try await Self.erase(under)
            #expect(again?.ends == 0 && again?.step.records == 0 && again?.blobs == BlobUsage())
            try await Self.check(under)
        }
    }

    @Test(arguments: StoreKind.available)
    func `a write that is on its way restores nothing`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            try await Self.fill(under)
            var reads = ReadSet()
            reads.records = [RecordKey(collection: "message", id: .numbered(50))]
            let reading = try await under.store.read(reads, in: under.workspace)
            await reading.turn?.end()
            var draft = BatchDraft(after: reading.state.head)
            draft.put(.numbered(50), in: Self.scope, body: #"{"text":"\#(Self.secret)"}"#)
            let late = try PlannedBatch(draft.batch, on: reading.state, heard: reading.heard)
            let erasing = under.store
            _ = try await erasing.beginErasure(of: Self.scope, in: under.workspace, now: 2_000)
            do {
                // Planned from memory: PostgreSQL has it planned again before it reports the reason.
                #expect(try await under.store.commit(late, in: under.workspace) == .moved)
            } catch {
                #expect(error as? StoreError == .erasedScope)
            }
            try await Self.erase(under)
            await #expect(throws: StoreError.erasedScope) {
                try await under.commit { $0.put(.numbered(51), in: Self.scope) }
            }
            await #expect(throws: StoreError.erasedScope) {
                try await under.commit { $0.put(Self.room, in: Self.scope, collection: "room", born: 1) }
            }
            try await under.commit { draft in
                draft.put(Self.room, in: .c, collection: "note")
                draft.put(.numbered(52), in: ScopeID(Self.scope.text + "0"))
            }
            try await under.commit { $0.put(.numbered(53), in: .b, body: nil) }
        }
    }

    @Test(arguments: StoreKind.available)
    func `other nodes learn of the ends, and earlier batches have no bodies`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            try await Self.fill(under)
            let before = try await under.store.session(for: .ann, client: nil, in: under.workspace).head.seq
            let filled = try await under.store.tail(after: 0, limit: 99, in: under.workspace).batches
            #expect(filled.contains { $0.batch != nil }, "there is somebody to be told")
            try await Self.erase(under)
            let old = try await under.store.tail(after: 0, limit: 1_000, in: under.workspace).batches
            #expect(old.allSatisfy { $0.head.seq > before || $0.batch == nil })
            let new = try await under.store.tail(after: before, limit: 1_000, in: under.workspace).batches
            let ends = new.flatMap { $0.batch?.memberships ?? [] }
            #expect(Set(ends.map(\.user.text)) == ["ann", "bob", "cyd", "dan", "eve"])
            #expect(ends.allSatisfy { $0.role == nil && $0.scope == Self.scope })
            #expect(new.allSatisfy { $0.batch?.forgets == true })
        }
    }

    @Test(arguments: StoreKind.available)
    func `a scope that no record opens is erased as well, and one of an empty workspace does not exist`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withStore { under in
            #expect(try await Self.erase(under, scope: .a) == nil)
            try await under.commit { draft in
                draft.put(.numbered(1), in: .a, body: #"{"text":"\#(Self.secret)"}"#)
                draft.put(.numbered(2), in: .b)
                draft.grant(.ann, .a)
            }
            try await Self.erase(under, scope: .a)
            let left = try await under.store.window(scopes: [.a, .b], after: 0, span: 99, in: under.workspace)
            #expect(left.records.map(\.scope) == [.b])
            #expect(try await under.store.session(for: .ann, client: nil, in: under.workspace).grants.isEmpty)
            await #expect(throws: StoreError.erasedScope) {
                try await under.commit { $0.put(.numbered(3), in: .a) }
            }
        }
    }

    @Test(arguments: StoreKind.available)
    func `the mark is deleted when the horizon has passed its tombstone`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            try await Self.fill(under)
            try await Self.erase(under)
            try await under.commit(time: 9_000) { $0.put(.numbered(60), in: .b) }
            let store = under.store
            for (time, isFree) in [(1_500, false), (2_001, true)] as [(Milliseconds, Bool)] {
                var isDone = false
                while !isDone {
                    let order = CompactionOrder(time: time, scopeCollections: ["room"])
                    isDone = try await store.compact(under.workspace, order).isDone
                }
                var reads = ReadSet()
                reads.records = [RecordKey(collection: "room", id: Self.room)]
                #expect(try await under.read(reads).records.isEmpty == isFree)
                if isFree {
                    try await under.commit(time: 9_000) { $0.put(.numbered(61), in: Self.scope) }
                } else {
                    await #expect(throws: StoreError.erasedScope) {
                        try await under.commit(time: 9_000) { $0.put(.numbered(61), in: Self.scope) }
                    }
                }
            }
        }
    }

    // MARK: Workspaces

    private func erase(_ under: StoreUnderTest, cutAt cut: Int? = nil) async throws -> Int? {
        var limits = Eraser.Limits()
        limits.stepRows = 3
        let steps = Counter()
        let eraser = Eraser(
            store: under.store, erasing: under.store,
            blobs: under.blobs, limits: limits,
            surroundings: Eraser.Surroundings(
                now: { 2_000 }, nonce: { 1 }, pause: { _ in if await steps.next() == cut { throw Cut() } }))
        return try await eraser.erase(under.workspace)?.rows
    }

    @Test(arguments: StoreKind.available)
    func `nothing of an erased workspace is left, no client gets in again, and others keep theirs`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withStore { under in
            #expect(try await erase(under) == nil, "there is none")
            try await Self.fill(under)
            let row = try await under.register(.numbered(7), for: .ann)
            let other = WorkspaceID(under.workspace.text + "-other")
            try await under.commit(in: other) { $0.put(.numbered(1), in: Self.scope) }
            let blob = Blob.filled(with: 1, count: 300_000)
            _ = try await under.blobs.put(blob, in: Self.scope, of: other, by: .bob, now: 1)
            for cut in 1...3 {
                do { _ = try await erase(under, cutAt: cut) } catch is Cut { try await checkIsErased(under, row) }
            }
            _ = try await erase(under)
            try await checkIsErased(under, row)
            #expect(try await under.blobs.usage(of: under.workspace) == BlobUsage())
            #expect(try await under.blobs.size(of: blob.digest, in: Self.scope, of: other) == 300_000)
            let left = try await under.store.window(scopes: [Self.scope], after: 0, span: 9, in: other)
            #expect(left.records.count == 1)
            try await under.commit(in: other) { $0.put(.numbered(2), in: Self.scope) }
            #expect(try await erase(under) == 0, "again")
        }
    }

    private func checkIsErased(_ under: StoreUnderTest, _ row: ClientRow) async throws {
        let (store, workspace) = (under.store, under.workspace)
        await #expect(throws: StoreError.erasedWorkspace) {
            try await store.session(for: .ann, client: row.id, in: workspace)
        }
        await #expect(throws: StoreError.erasedWorkspace) {
            try await store.register(.numbered(8), for: .ann, in: workspace, now: 1)
        }
        await #expect(throws: StoreError.erasedWorkspace) { try await store.follow(workspace, node: 3, now: 1) }
        await #expect(throws: StoreError.erasedWorkspace) { try await store.read(ReadSet(), in: workspace) }
        // Its order no longer exists, which proves no rewind.
        let lost = EpochRaise(
            .lost(Head(seq: 9, nonce: 4, time: 1, epoch: 1)), reason: .head, nonce: 5, now: 6_000)
        await #expect(throws: StoreError.erasedWorkspace) { try await store.raiseEpoch(lost, in: workspace) }
        #expect(try await store.lineage(of: workspace).isEmpty)
    }

    @Test(arguments: StoreKind.available)
    func `a batch that was planned before its workspace was erased is not written`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            try await Self.fill(under)
            let reading = try await under.store.read(ReadSet(), in: under.workspace)
            await reading.turn?.end()
            var draft = BatchDraft(after: reading.state.head)
            draft.put(.numbered(90), in: .b, body: #"{"text":"\#(Self.secret)"}"#)
            let late = try PlannedBatch(draft.batch, on: reading.state, heard: reading.heard)
            _ = try await erase(under)
            do {
                #expect(try await under.store.commit(late, in: under.workspace) == .moved)
            } catch {
                #expect(error as? StoreError == .erasedWorkspace)
            }
            let left = try await under.store.window(scopes: [.b], after: 0, span: 9, in: under.workspace)
            #expect(left.records.isEmpty && left.head == .start)
        }
    }

    // MARK: The bytes

    @Test func `neither the files of SQLite nor the log have a byte of it`() async throws {
        let file = TemporaryFile()
        let store = try EmbeddedStore(path: file.path)
        let blobs = try EmbeddedBlobStore(path: EmbeddedBlobStore.path(besides: file.path))
        let under = StoreUnderTest(store: store, blobs: blobs)
        try await Self.fill(under)
        // Overwritten, and deleted by compaction, long before.
        let long = String(repeating: Self.secret, count: 400)
        try await under.commit { $0.put(.numbered(70), in: Self.scope, body: #"{"text":"\#(long)"}"#) }
        try await under.commit { $0.put(.numbered(70), in: Self.scope, born: $0.next - 1, body: #"{"text":"short"}"#) }
        let picture = Array("the picture of a secret".utf8)
        let blob = Blob(
            digest: BlobDigest(sha256: Array(0..<32)), bytes: Array(repeatElement(picture, count: 30_000).joined()))
        _ = try await blobs.put(blob, in: Self.scope, of: under.workspace, by: .ann, now: 1_000)
        let secrets = [Array(Self.secret.utf8), picture]
        func found(_ secret: [UInt8]) throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: file.folder.path).filter { name in
                try Data(contentsOf: file.folder.appendingPathComponent(name)).range(of: Data(secret)) != nil
            }
        }
        for secret in secrets { #expect(try !found(secret).isEmpty, "it is there to be found") }
        try await Self.erase(under)
        for secret in secrets { #expect(try found(secret) == [], "while the store is open") }
        try await Self.check(under)
        try store.close()
        try blobs.close()
        for secret in secrets { #expect(try found(secret) == []) }
        try file.remove()
    }

    @Test(.enabled(if: TestSchema.isGiven))
    func `no row of PostgreSQL contains it`() async throws {
        try await TestSchema.with { schema in
            let running = try await RunningPostgresStore(schema, node: 1)
            let under = StoreUnderTest(store: running.store, blobs: running.store)
            func isFound() async throws -> Bool {
                for table in try await schema.sql(
                    "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = '\(schema.name)'::regnamespace"
                ) {
                    let count = try await schema.sql(
                        "SELECT count(*)::text FROM \(table) t WHERE t::text LIKE '%\(Self.secret)%'")
                    if count != ["0"] { return true }
                }
                return false
            }
            try await Self.fill(under)
            #expect(try await isFound())
            try await Self.erase(under)
            #expect(try await !isFound())
            try await Self.check(under)
            _ = try await erase(under)
            var tables: [String] = []
            for table in try await schema.sql(
                "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = '\(schema.name)'::regnamespace")
            {
                let count = try await schema.sql(
                    "SELECT count(*)::text FROM \(table) t WHERE t::text LIKE '%\(under.workspace)%'")
                if count != ["0"] { tables.append(table) }
            }
            #expect(tables == ["sync_erasure"], "the mark alone names the workspace")
            try await running.end()
        }
    }

    /// A put that has checked the scope before, and writes after the erasure.
    @Test(.enabled(if: TestSchema.isGiven))
    func `a blob that is on its way is not stored in an erased scope`() async throws {
        try await TestSchema.with { schema in
            let running = try await RunningPostgresStore(schema, node: 1)
            let under = StoreUnderTest(store: running.store, blobs: running.store)
            try await Self.fill(under)
            try await Self.erase(under)
            await #expect(throws: StoreError.erasedScope) {
                try await running.store.put(
                    .filled(with: 9, count: 300_000), in: Self.scope, of: under.workspace, by: .ann, now: 1)
            }
            try await Self.check(under)
            try await running.end()
        }
    }
}

/// A counter that starts at one.
private actor Counter {
    private var count = 0

    func next() -> Int {
        count += 1
        return count
    }
}

extension Sequence {
    fileprivate func asyncMap<Value>(_ body: (Element) async throws -> Value) async rethrows -> [Value] {
        var values: [Value] = []
        for element in self { values.append(try await body(element)) }
        return values
    }
}
