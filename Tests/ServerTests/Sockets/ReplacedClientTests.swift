import Testing
import TidemarkModel
import TidemarkStore
import TidemarkWire

/// A client that knows only the protocol's page, when its client id is refused (section 6).
@Suite(.timeLimit(.minutes(5))) struct ReplacedClientTests {
    /// A pending transaction as such a client keeps it.
    private struct Entry {
        let transaction: Transaction
        var isGivenOut = false
    }

    private static let schema = """
        {"tidemark": 1, "name": "counting", "collections": {
          "pages": {"scope": {"shared": "all"}, "create": ["anyone"], "fields": {
            "visits": {"type": "integer", "merge": "counter"}, "title": "string",
            "tags": {"type": "set", "merge": "elements"}, "best": {"type": "integer", "merge": "max"}}}
        }}
        """
    private static let page = RecordKey(collection: "pages", id: Sample.id(1))

    private func counting(_ body: @Sendable (TestServer) async throws -> Void) async throws {
        try await TestServer.running(schema: try Schema(json: Array(Self.schema.utf8)), body)
    }

    private func write(_ number: UInt64, _ actions: Mutation.Action...) -> Transaction {
        Transaction(
            id: Sample.id(100 + number), mutations: actions.map { Mutation(key: Self.page, action: $0) }, clientTime: 0)
    }

    private func patch(_ number: UInt64, _ patches: NamedPatch...) -> Transaction { write(number, .update(patches)) }

    /// Transactions that create a record with 1 visit, add visits, set a title, and repeat everything repeatable in
    /// one.
    private var outbox: [Entry] {
        [
            write(1, .create(["visits": 1, "title": "new"])), patch(2, NamedPatch("visits", .increment(10))),
            patch(3, NamedPatch("title", .set("title"))), patch(4, NamedPatch("visits", .increment(100))),
            patch(5, NamedPatch("tags", .add(["a"])), NamedPatch("best", .max(7))),
        ].map { Entry(transaction: $0) }
    }

    /// The transactions that are sent again under the new id, by the protocol's rule.
    private func rest(of outbox: [Entry], after code: CloseCode) -> [Transaction] {
        outbox.filter { entry in
            let mayHaveHappened = code == .clientForked || entry.isGivenOut
            return !mayHaveHappened || !entry.transaction.counts
        }.map(\.transaction)
    }

    private func send(_ transactions: [Transaction], by client: TestClient) async throws {
        try await client.send(
            .push(Push(first: 1, ackedThrough: 0, entries: transactions.map { Push.Entry($0) })))
    }

    /// The page as every user has it.
    private func read(_ server: TestServer) async throws -> Fields {
        let reader = try await TestClient.greeting(server, as: "eve", 77)
        _ = try await reader.welcome()
        _ = try await reader.changes()
        try await reader.send(
            .page(PageRequest(id: 1, scope: ScopeID("all"), since: 0, collection: "pages", before: nil, limit: 9)))
        while true {
            if case .page(let answer) = try await reader.next() {
                await reader.leave()
                return try #require(answer.changes.first?.fields)
            }
        }
    }

    private static let once: Fields = ["visits": 111, "title": "title", "tags": ["a"], "best": 7]

    @Test func `a copied outbox takes effect once, whichever device sends it`() async throws {
        try await counting { server in
            // The original sends everything, and has stored every outcome.
            let original = try await TestClient.welcomed(server, as: "ann", 1)
            try await send(outbox.map(\.transaction), by: original)
            _ = try await original.settled(through: 5)
            try await original.send(
                .push(Push(first: 6, ackedThrough: 5, entries: [Push.Entry(patch(6, NamedPatch("best", .max(1))))])))
            _ = try await original.settled(through: 6)
            await original.leave()
            // The copy has sent nothing, and begins with the same numbers.
            let copy = try await TestClient.greeting(server, as: "ann", 1, isNew: false, counter: 2)
            _ = try await copy.welcome()
            try await send(outbox.map(\.transaction), by: copy)
            #expect(try await copy.closeCode() == CloseCode.clientForked.rawValue)
            let again = rest(of: outbox, after: .clientForked)
            #expect(again.map(\.id) == [1, 3, 5].map { Sample.id(100 + $0) })
            let renamed = try await TestClient.welcomed(server, as: "ann", 2)
            try await send(again, by: renamed)
            let outcomes = try await renamed.settled(through: 3).flatMap { $0.settled?.outcomes ?? [] }
            #expect(outcomes.map { $0.rejection?.code } == [nil, nil, nil])
            await renamed.leave()
            #expect(try await read(server) == Self.once)
        }
    }

    @Test func `transactions that an unknown client sent without an answer take effect once`() async throws {
        try await counting { server in
            var outbox = self.outbox
            // The answer to the first two never arrived.
            let lost = try await TestClient.welcomed(server, as: "ann", 1)
            try await send(outbox[..<2].map(\.transaction), by: lost)
            _ = try await lost.settled(through: 2)
            await lost.leave()
            for index in 0..<2 { outbox[index].isGivenOut = true }
            let unknown = try await TestClient.greeting(server, as: "ann", 9, isNew: false)
            #expect(try await unknown.closeCode() == CloseCode.clientUnknown.rawValue)
            let again = rest(of: outbox, after: .clientUnknown)
            #expect(again.map(\.id) == [1, 3, 4, 5].map { Sample.id(100 + $0) })
            let renamed = try await TestClient.welcomed(server, as: "ann", 2)
            try await send(again, by: renamed)
            let outcomes = try await renamed.settled(through: 4).flatMap { $0.settled?.outcomes ?? [] }
            #expect(outcomes.map { $0.rejection?.code } == [nil, nil, nil, nil])
            await renamed.leave()
            #expect(try await read(server) == Self.once)
        }
    }

    @Test func `a transaction resent under another client id against the rule takes effect twice`() async throws {
        try await counting { server in
            for client in [1, 2] as [UInt64] {
                let sender = try await TestClient.welcomed(server, as: "ann", client)
                try await send(outbox.map(\.transaction), by: sender)
                _ = try await sender.settled(through: 5)
                await sender.leave()
            }
            #expect(try await read(server)["visits"] == 221)
        }
    }
}

extension Transaction {
    /// Whether it contains an `inc`.
    fileprivate var counts: Bool {
        mutations.contains { mutation in
            guard case .update(let patches) = mutation.action else { return false }
            return patches.contains { if case .increment = $0.patch { true } else { false } }
        }
    }
}
