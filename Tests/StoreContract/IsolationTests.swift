import Testing
import TidemarkModel
import TidemarkStore

@Suite struct IsolationTests {
    @Test(arguments: StoreKind.available)
    func `two workspaces never see each other`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            let store = under.store
            let other = WorkspaceID(under.workspace.text + "'")
            let row = try await under.register(.numbered(50), for: .ann)
            _ = try await store.follow(under.workspace, node: 1, now: 1_000)
            let mine = try await under.commit { draft in
                draft.put(.numbered(1), body: #"{"text":"mine"}"#)
                draft.grant(.ann, .a)
                draft.settle(row, through: 1)
            }
            let key = RecordKey(collection: "message", id: .numbered(1))
            var reads = ReadSet()
            reads.records = [key]
            reads.seats = [Seat(user: .ann, scope: .a)]
            reads.clients = [row.id]
            let found = try await under.read(reads, in: other)
            #expect(found.head == .start)
            #expect(found.records.isEmpty && found.grants.isEmpty && found.clients.isEmpty)
            #expect(try await store.session(for: .ann, client: row.id, in: other) == SessionSnapshot(head: .start))
            #expect(try await store.batch(holding: 1, in: other) == nil)
            #expect(try await store.changedScopes(among: [.a], after: 0, in: other).isEmpty)
            #expect(try await store.window(scopes: [.a], after: 0, span: 9, in: other).records.isEmpty)
            #expect(try await store.tail(after: 0, limit: 9, in: other).batches.isEmpty)

            let theirs = try await under.commit(in: other) { $0.put(.numbered(1), in: .b) }
            #expect(theirs.low == 1)
            #expect(try await store.register(row.id, for: .bob, in: other, now: 1) != .taken)
            #expect(try await under.read(reads).records[key] == mine.records[0])
            #expect(try await under.read(reads).head == mine.head)
        }
    }

    static let hostile = [
        "it's \"quoted\"; DROP TABLE sync_record; --", #"back\slash\"#, "%_*?[]{}$1 :name @x", "NULL",
        " lead and trail ",
        "🌊👩‍👩‍👧‍👦 مرحبا", String(repeating: "ü", count: 64), String(repeating: "x", count: 128),
        "\u{feff}mark", "{1,\"2\"}",
    ]

    @Test(arguments: StoreKind.available)
    func `hostile names come back unchanged`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            let store = under.store
            for (index, name) in Self.hostile.enumerated() {
                let workspace = WorkspaceID("\(under.workspace.text.suffix(30))\(name)")
                let user = UserID(name)
                let scope = ScopeID(name)
                let number = Int64(index)
                let body = FieldValue.object(["text": .string(name + "\u{0}\n\t")]).json
                _ = try await store.follow(workspace, node: 1, now: 1_000)
                _ = try await store.register(.numbered(number), for: user, in: workspace, now: 1)
                let batch = try await under.commit(in: workspace) { draft in
                    draft.put(.numbered(number), in: scope, collection: name, body: body)
                    draft.grant(user, scope)
                    draft.tamper {
                        $0.records[0].author = user
                        $0.settlements = [
                            Settlement(
                                client: ClientRow(id: .numbered(number), user: user, settledThrough: 1),
                                results: [
                                    TransactionOutcome(
                                        number: 1, transaction: .numbered(8), seq: 1,
                                        time: $0.head.time, rejection: Rejection(.invalid, name))
                                ])
                        ]
                    }
                }
                let session = try await store.session(for: user, client: .numbered(number), in: workspace)
                #expect(session.client?.user == user)
                #expect(session.results.map(\.rejection) == [Rejection(.invalid, name)])
                #expect(session.grants.map(\.scope) == [scope])
                #expect(try await store.changedScopes(among: [scope], after: 0, in: workspace) == [scope])
                let window = try await store.window(scopes: [scope], after: 0, span: 9, in: workspace)
                #expect(window.records == batch.records)
                let page = try await store.page(scope: scope, collection: name, before: .max, limit: 9, in: workspace)
                #expect(page.records == batch.records)
                #expect(try await store.tail(after: 0, limit: 9, in: workspace).batches.map(\.batch) == [batch])
            }
        }
    }
}
