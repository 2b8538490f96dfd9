import GRDB
import Testing
import TidemarkModel
import TidemarkStore

@testable import TidemarkEmbeddedStore

/// Records are filed late in the tables that find a scope's records: no reader may notice.
@Suite struct FilingTests {
    private static let scopes = [ScopeID.a, .b, .c]

    private func withStore(
        _ bounds: Filing.Bounds, _ body: (EmbeddedStore, StoreUnderTest, TemporaryFile) async throws -> Void
    ) async throws {
        let file = TemporaryFile()
        var options = EmbeddedStore.Options()
        options.filing = bounds
        let store = try EmbeddedStore(path: file.path, options: options)
        do {
            try await body(store, StoreUnderTest(store: store), file)
        } catch {
            try store.close()
            try file.remove()
            throw error
        }
        try store.close()
        try file.remove()
    }

    @Test(arguments: 1...12)
    func `a scope's records are found whether they are filed or not, changed, deleted and restored`(
        _ seed: UInt64
    ) async throws {
        try await withStore(.init(recordsPerScope: Int(seed % 4) + 1, scopesMax: 3)) { store, under, _ in
            let oracle = InMemoryStore(MemoryTables())
            var generator = SplitMix(seed: seed)
            var records: [StoredRecord] = []
            var met = (recent: 0, filed: 0)
            for _ in 0..<60 {
                let head = try await under.store.session(for: .ann, client: nil, in: under.workspace).head
                var draft = BatchDraft(after: head)
                for _ in 0..<Int.random(in: 1...4, using: &generator) {
                    draft.change(&records, among: Self.scopes, using: &generator)
                }
                let batch = draft.batch
                for store in [under.store, oracle as any Store] {
                    let reading = try await store.read(draft.reads, in: under.workspace)
                    let planned = try PlannedBatch(batch, on: reading.state)
                    #expect(try await store.commit(planned, in: under.workspace) == .written(isHeard: false))
                }
                try await expectSame(under.store, oracle, in: under.workspace, head: batch.head)
                let rows = try await store.rows()
                met.recent += rows.recent
                met.filed += rows.filed
            }
            #expect(met.recent > 0 && met.filed > 0)
        }
    }

    private func expectSame(
        _ store: any Store, _ oracle: any Store, in workspace: WorkspaceID, head: Head
    ) async throws {
        for seq in [0, head.seq / 2, head.seq - 1] {
            for scopes in [Self.scopes, [.b]] {
                let window = try await store.window(scopes: scopes, after: seq, span: 20, in: workspace)
                #expect(try await oracle.window(scopes: scopes, after: seq, span: 20, in: workspace) == window)
                let changed = try await store.changedScopes(among: scopes, after: seq, in: workspace)
                #expect(try await oracle.changedScopes(among: scopes, after: seq, in: workspace) == changed)
            }
            for scope in Self.scopes {
                func page(_ store: any Store) async throws -> Page {
                    try await store.page(
                        scope: scope, collection: "message", before: seq + 1, limit: 5, in: workspace)
                }
                #expect(try await page(oracle) == page(store))
            }
        }
    }

    @Test func `a search of recent and filed records ends where its reader ends it`() async throws {
        try await withStore(.init(recordsPerScope: 2, scopesMax: 10)) { store, under, _ in
            for number: Int64 in 1...3 { try await under.commit { $0.put(.numbered(number)) } }
            #expect(try await store.rows() == (recent: 1, filed: 2))
            for (count, expected): (Int, [Int64]) in [(1, [3]), (2, [3, 2]), (9, [3, 2, 1])] {
                let rows = try await store.onReader { db in
                    var rows: [Int64] = []
                    try ScopeSearch(db: db, workspace: under.workspace).page(.a, "message", before: .max) { row in
                        rows.append(row)
                        return rows.count < count
                    }
                    return rows
                }
                #expect(rows == expected)
            }
        }
    }

    @Test func `recent records are never many, whatever the number of their scopes`() async throws {
        try await withStore(.init(recordsPerScope: 4, scopesMax: 10)) { store, under, _ in
            for round: Int64 in 0..<100 {
                try await under.commit { draft in
                    for number: Int64 in 1...3 {
                        draft.put(.numbered(3 * round + number), in: ScopeID("scope \(round % 40)"))
                    }
                }
                #expect(try await store.rows().recent <= 4 * 10 + 3)
            }
            #expect(try await store.rows().filed > 200)
        }
    }

    @Test func `records of one scope are filed by as many as share a page`() async throws {
        try await withStore(.init(recordsPerScope: 4, scopesMax: 10)) { store, under, _ in
            var recent: [Int] = []
            for number: Int64 in 1...6 {
                try await under.commit { $0.put(.numbered(number)) }
                recent.append(try await store.rows().recent)
            }
            // The batch that reached the bound does not wait: the next one files.
            #expect(recent == [1, 2, 3, 4, 1, 2])
        }
    }

    @Test func `a change of an existing record is not counted`() async throws {
        try await withStore(.init(recordsPerScope: 4, scopesMax: 10)) { store, under, _ in
            try await under.commit { $0.put(.numbered(1)) }
            for _ in 1...9 { try await under.commit { $0.put(.numbered(1), born: 1) } }
            #expect(try await store.rows().recent == 1)
        }
    }

    @Test func `records stay found when the batch that filed them is rolled back`() async throws {
        try await withStore(.init(recordsPerScope: 1, scopesMax: 10)) { store, under, _ in
            try await under.commit { $0.put(.numbered(1)) }
            // The first batch files record 1, collides with it and is rolled back.
            let head = try await under.read(ReadSet()).head
            #expect(try await under.commitment(of: under.create(1, after: head)) == .moved)
            #expect(try await under.commitment(of: under.create(2, after: head)) == .written(isHeard: false))
            let window = try await under.store.window(scopes: [.a], after: 0, span: 9, in: under.workspace)
            #expect(window.records.map(\.key.id) == [.numbered(1), .numbered(2)])
            #expect(try await store.rows() == (recent: 1, filed: 1))
        }
    }

    @Test func `batches that are rolled back whenever they file leave no more recent records`() async throws {
        try await withStore(.init(recordsPerScope: 3, scopesMax: 10)) { store, under, _ in
            try await under.commit { draft in
                // Enough to make it the first attempt of a filing batch each time.
                for number: Int64 in [1, 1_000, 1_001] { draft.put(.numbered(number)) }
            }
            for number: Int64 in 2...60 {
                let head = try await under.read(ReadSet()).head
                var colliding = BatchDraft(after: head)
                colliding.put(.numbered(number))
                colliding.put(.numbered(1))
                let planned = try PlannedBatch(colliding.batch, on: OrderState(head: head))
                #expect(try await under.commitment(of: planned) == .moved)
                let next = try under.create(number, after: head)
                #expect(try await under.commitment(of: next) == .written(isHeard: false))
                #expect(try await store.rows().recent <= 4)
            }
        }
    }

    @Test func `recent records at the end of the store are filed when it opens`() async throws {
        try await withStore(.init()) { store, under, file in
            try await under.commit { draft in
                for number: Int64 in 1...5 { draft.put(.numbered(number)) }
            }
            #expect(try await store.rows() == (recent: 5, filed: 0))
            try store.close()
            let again = try EmbeddedStore(path: file.path)
            #expect(try await again.rows() == (recent: 0, filed: 5))
            let window = try await again.window(scopes: [.a], after: 2, span: 9, in: under.workspace)
            #expect(window.records.map(\.seq) == [3, 4, 5])
            try again.close()
        }
    }

    @Test func `a store without space to file opens, and finds everything`() async throws {
        try await withStore(.init(recordsPerScope: 1_000)) { store, under, file in
            try await under.commit { draft in
                for number: Int64 in 1...900 { draft.put(.numbered(number)) }
            }
            try store.close()
            var options = EmbeddedStore.Options()
            options.fileBytesMax = 1
            let full = try EmbeddedStore(path: file.path, options: options)
            #expect(try await full.rows() == (recent: 900, filed: 0))
            let page = try await full.page(
                scope: .a, collection: "message", before: 900, limit: 2, in: under.workspace)
            #expect(page.records.map(\.born) == [899, 898])
            try full.close()
            let roomy = try EmbeddedStore(path: file.path)
            #expect(try await roomy.rows() == (recent: 0, filed: 900))
            try roomy.close()
        }
    }
}

extension EmbeddedStore {
    fileprivate func rows() async throws -> (recent: Int, filed: Int) {
        try await onReader { db in
            let recent = try Int.fetchOne(
                db, sql: "SELECT count(*) FROM sync_record WHERE row > (SELECT through FROM sync_filing)")
            return (recent ?? -1, try Int.fetchOne(db, sql: "SELECT count(*) FROM sync_feed") ?? -1)
        }
    }
}

extension BatchDraft {
    /// Adds a new record, or a state of one of `records`: changed, deleted or restored.
    fileprivate mutating func change(
        _ records: inout [StoredRecord], among scopes: [ScopeID], using generator: inout SplitMix
    ) {
        let taken = Set(batch.records.map(\.key))
        let old = records.indices.filter { !taken.contains(records[$0].key) }.randomElement(using: &generator)
        if let old, Int.random(in: 0..<3, using: &generator) > 0 {
            let record = records[old]
            let body = Bool.random(using: &generator) ? #"{"text":"\#(next)"}"# : nil
            put(record.key.id, in: record.scope, born: record.born, body: body)
        } else if let scope = scopes.randomElement(using: &generator) {
            put(.numbered(next), in: scope, body: #"{"text":"\#(next)"}"#)
            records.append(batch.records[batch.records.count - 1])
        }
    }
}
