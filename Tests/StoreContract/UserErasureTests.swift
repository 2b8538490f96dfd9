import Foundation
import Testing
import TidemarkModel
import TidemarkStore

@testable import TidemarkEmbeddedStore
@testable import TidemarkPostgresStore

/// An erased user is named nowhere, and others' data stays unchanged.
@Suite(.timeLimit(.minutes(5))) struct UserErasureTests {
    private static let name = "annabel-lee"
    private static let user = UserID(name)
    private static let (shared, own): (LocalID, LocalID) = (.numbered(100), .numbered(200))
    private static let device = ClientID.numbered(7)

    private struct Cut: Error {}

    private func erase(_ under: StoreUnderTest, cutAt cut: Int? = nil) async throws -> Eraser.Progress? {
        var limits = Eraser.Limits()
        (limits.stepRows, limits.endsPerBatch, limits.membersPerStep) = (2, 2, 3)
        let steps = StepCounter()
        let eraser = Eraser(
            store: under.store, erasing: under.store,
            blobs: under.blobs, limits: limits,
            surroundings: Eraser.Surroundings(
                now: { 2_000 }, nonce: { UInt64.random(in: 1...(.max)) },
                pause: { _ in if await steps.next() == cut { throw Cut() } }))
        return try await eraser.erase(Self.user, in: under.workspace, Eraser.UserPlan(schema: try Registry.schema()))
    }

    /// Writes a room with Bob and one alone, notes of both in the first, a ledger, a device with outcomes, two blobs.
    private func fill(_ under: StoreUnderTest) async throws {
        _ = try await under.store.follow(under.workspace, node: 77, now: 1_000)
        let scope = ScopeID(record: Self.shared)
        try await under.commit { draft in
            draft.put(
                Self.shared, in: scope, collection: "rooms", body: #"{"members":["\#(Self.name)","bob"],"title":"t"}"#)
            draft.put(
                Self.own, in: ScopeID(record: Self.own), collection: "rooms", body: #"{"members":["\#(Self.name)"]}"#)
            draft.put(.numbered(201), in: ScopeID(record: Self.own), collection: "notes", body: #"{"data":"alone"}"#)
            for number: Int64 in 1...7 {
                draft.put(.numbered(number), in: scope, collection: "notes", body: #"{"data":1}"#)
            }
            for user in [Self.user, .bob] { draft.grant(user, scope) }
            draft.grant(Self.user, ScopeID(record: Self.own))
            draft.tamper { batch in
                for index in batch.records.indices { batch.records[index].author = index == 5 ? .bob : Self.user }
            }
        }
        try await under.commit { draft in
            let seq = draft.skip()
            for (id, author, before) in [(1, Self.user, UserID.bob), (2, .bob, Self.user), (4, .bob, .bob)]
                as [(Int64, UserID, UserID)]
            {
                draft.tamper { batch in
                    batch.ledger.append(
                        LedgerEntry(
                            key: RecordKey(collection: "notes", id: .numbered(id)), scope: scope, seq: seq,
                            value: OverwrittenValue(field: "data", rule: .lww, old: 1, new: 2), oldAuthor: before,
                            author: author, client: Self.device, app: nil, time: 1_000))
                }
            }
        }
        for (client, user) in [(Self.device, Self.user), (.numbered(8), .bob)] {
            let row = try await under.register(client, for: user)
            try await under.commit { $0.settle(row, through: 2, refusing: [2]) }
        }
        for (seed, user) in [(1, Self.user), (2, .bob)] as [(UInt8, UserID)] {
            _ = try await under.blobs.put(
                .filled(with: seed, count: 1_000), in: scope, of: under.workspace, by: user, now: 1_000)
        }
    }

    private func check(_ under: StoreUnderTest) async throws {
        let (store, workspace, scope) = (under.store, under.workspace, ScopeID(record: Self.shared))
        #expect(try await store.session(for: Self.user, client: nil, in: workspace).grants.isEmpty)
        #expect(try await store.clients(of: Self.user, in: workspace).isEmpty)
        #expect(try await store.clients(of: .bob, in: workspace).map(\.id) == [.numbered(8)])
        let page = try await store.page(scope: scope, collection: "notes", before: .max, limit: 99, in: workspace)
        #expect(page.records.count == 7 && page.records.allSatisfy { $0.body == Array(#"{"data":1}"#.utf8) })
        let authors = Set(page.records.map(\.author))
        #expect(authors.count == 2 && authors.contains(.bob) && !authors.contains(Self.user))
        let alias = try #require(authors.first { $0 != .bob })
        #expect(alias.text.hasPrefix("erased-") && alias.text.utf8.count == 39)
        let room = try await store.page(scope: scope, collection: "rooms", before: .max, limit: 9, in: workspace)
        #expect(room.records.map { String(decoding: $0.body, as: UTF8.self) } == [#"{"members":["bob"],"title":"t"}"#])
        #expect(room.records.map(\.author) == [alias], "one name for all that the user wrote")
        let alone = try await store.window(
            scopes: [ScopeID(record: Self.own)], after: 0, span: .max, in: workspace)
        #expect(alone.records.map(\.key.collection) == ["rooms"] && alone.records.allSatisfy(\.isDeleted))
        func history(_ id: Int64) async throws -> LedgerEntry? {
            try await store.history(
                of: RecordKey(collection: "notes", id: .numbered(id)), scope: scope, before: .max, limit: 9,
                in: workspace
            ).entries.first
        }
        let (first, second, fourth) = (try await history(1), try await history(2), try await history(4))
        #expect(first?.author == alias && first?.oldAuthor == .bob && first?.client == UniqueID(high: 0, low: 0))
        #expect(second?.author == .bob && second?.oldAuthor == alias && second?.client == Self.device)
        #expect(fourth?.author == .bob && fourth?.oldAuthor == .bob)
        let blobs = [Blob.filled(with: 1, count: 1_000), .filled(with: 2, count: 1_000)]
        #expect(try await under.blobs.size(of: blobs[0].digest, in: scope, of: workspace) == nil)
        #expect(try await under.blobs.size(of: blobs[1].digest, in: scope, of: workspace) == 1_000)
        var next: SequenceNumber = 1
        for batch in try await store.tail(after: 0, limit: 1_000, in: workspace).batches {
            #expect(batch.low == next && batch.batch == nil, "I-01, and no body names anybody")
            next = batch.head.seq + 1
        }
        // Another user of that name may register, like anyone.
        #expect(try await store.register(.numbered(9), for: Self.user, in: workspace, now: 1) != .tooMany)
    }

    @Test(arguments: StoreKind.available)
    func `the name is deleted everywhere, and the writes stay under another`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            #expect(try await erase(under) == nil, "there is no such workspace")
            try await fill(under)
            let done = try await erase(under)
            #expect(done?.clients == 1 && done?.ends == 2 && done?.blobs.blobs == 1)
            try await check(under)
        }
    }

    @Test(arguments: StoreKind.available)
    func `interrupted at any step, it continues under the same name, and no device returns meanwhile`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withStore { under in
            try await fill(under)
            var cut = 1
            while true {
                do {
                    _ = try await erase(under, cutAt: cut)
                    break
                } catch is Cut {
                    cut += 2
                    let answer = try await under.store.register(
                        .numbered(77), for: Self.user, in: under.workspace, now: 1)
                    #expect(answer == .tooMany)
                }
            }
            #expect(cut > 3)
            try await check(under)
        }
    }

    @Test func `no file of SQLite names the user`() async throws {
        let file = TemporaryFile()
        let store = try EmbeddedStore(path: file.path)
        let blobs = try EmbeddedBlobStore(path: EmbeddedBlobStore.path(besides: file.path))
        let under = StoreUnderTest(store: store, blobs: blobs)
        try await fill(under)
        func found() throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: file.folder.path).filter { name in
                try Data(contentsOf: file.folder.appendingPathComponent(name)).range(of: Data(Self.name.utf8)) != nil
            }
        }
        #expect(try !found().isEmpty)
        _ = try await erase(under)
        let left = try found()
        #expect(left == [])
        try store.close()
        try blobs.close()
        try file.remove()
    }

    @Test(.enabled(if: TestSchema.isGiven))
    func `no row of PostgreSQL names the user`() async throws {
        try await TestSchema.with { schema in
            let running = try await RunningPostgresStore(schema, node: 1)
            let under = StoreUnderTest(store: running.store, blobs: running.store)
            try await fill(under)
            _ = try await erase(under)
            var tables: [String] = []
            for table in try await schema.sql(
                "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = '\(schema.name)'::regnamespace")
            {
                let count = try await schema.sql(
                    "SELECT count(*)::text FROM \(table) t WHERE t::text LIKE '%\(Self.name)%'")
                if count != ["0"] { tables.append(table) }
            }
            #expect(tables == [])
            try await running.end()
        }
    }
}

private actor StepCounter {
    private var count = 0

    func next() -> Int {
        count += 1
        return count
    }
}
