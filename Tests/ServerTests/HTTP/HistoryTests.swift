import Testing
import TidemarkModel
import TidemarkNIOTransport
import TidemarkWire

@testable import TidemarkAssembly

@Suite(.timeLimit(.minutes(5))) struct HistoryTests {
    private let key = RecordKey(collection: "conversations", id: Sample.id(20))

    private func rename(_ number: UInt64, _ name: String, seen: FieldValue?) throws -> Transaction {
        let schema = try ServerConfiguration.sampleSchema()
        let field = try #require(schema.collection("conversations")?.field("name"))
        return Transaction(
            id: Sample.id(number),
            mutations: [
                Mutation(
                    key: key,
                    action: .update([NamedPatch("name", .set(.string(name)), seen: ValueMark(seen, of: field))]))
            ], clientTime: 0)
    }

    private func push(
        _ server: TestServer, as user: String, _ client: UInt64, app: String?, _ transactions: Transaction...
    ) async throws {
        let id = Sample.id(client)
        _ = try await server.post("/v1/clients", as: user, body: #"{"client":"\#(id)"}"#)
        let push = Push(first: 1, ackedThrough: 0, entries: transactions.map { Push.Entry($0) })
        let call = PushCall(client: id, connection: 1, push: push, app: app)
        let answer = try await server.post(
            "/v1/push", as: user, body: String(decoding: call.encode(), as: UTF8.self))
        #expect(try PushAnswer.decode(answer.body).outcomes.allSatisfy { $0.rejection == nil })
    }

    /// Writes Ann's conversation with bob, which both name, neither knowing of the other's write.
    private func prepare(_ server: TestServer) async throws {
        try await push(
            server, as: "ann", 1, app: "demo\u{7} 1", Sample.conversation(20, of: "ann", "bob"),
            try rename(21, "anns", seen: nil))
        try await push(server, as: "bob", 2, app: "demo 2", try rename(22, "bobs", seen: nil))
    }

    private func request(since: SequenceNumber = 1, id: Int64 = 4) -> HistoryRequest {
        HistoryRequest(id: id, scope: Sample.scope(20), since: since, key: key, limit: 9)
    }

    private func expect(_ answer: HistoryAnswer) {
        #expect(answer.id == 4 && answer.key == key && answer.next == nil)
        #expect(answer.entries.map(\.seq) == [3])
        let entry = answer.entries.first
        #expect(entry?.value == OverwrittenValue(field: "name", rule: .lww, old: "anns", new: "bobs"))
        #expect(entry?.author == UserID("bob") && entry?.client == Sample.id(2) && entry?.app == "demo 2")
    }

    @Test func `a member of the scope gets the history over HTTP, and no other user`() async throws {
        try await TestServer.running { server in
            try await prepare(server)
            func ask(_ user: String, _ request: HistoryRequest) async throws -> NIOHTTPAnswer {
                try await server.post(
                    "/v1/history", as: user, body: String(decoding: request.encode(), as: UTF8.self))
            }
            expect(try HistoryAnswer.decode(try await ask("ann", request()).body))
            #expect(try await ask("eve", request()).status == 403)
            #expect(try await ask("ann", request(since: 2)).status == 403)
            var unknown = request()
            unknown.key = RecordKey(collection: "nothing", id: Sample.id(20))
            #expect(try await ask("ann", unknown).status == 403)
            unknown = request()
            unknown.scope = ScopeID("directory")
            unknown.since = 0
            let elsewhere = try await ask("eve", unknown)
            #expect(try HistoryAnswer.decode(elsewhere.body).entries.isEmpty, "a record of another scope")
        }
    }

    @Test func `on a socket the history is sent once the stream has it, and refused without the grant`() async throws {
        try await TestServer.running { server in
            try await prepare(server)
            let ann = try await TestClient.welcomed(server, as: "ann", 3)
            try await ann.send(.history(request()))
            guard case .history(let answer) = try await ann.next() else {
                Issue.record("no history")
                return
            }
            expect(answer)
            try await ann.send(.history(request(since: 9, id: 5)))
            let refusal = try await ann.error()
            #expect(refusal.code == .forbidden && refusal.request == 5)
            await ann.leave()
            let eve = try await TestClient.welcomed(server, as: "eve", 4)
            try await eve.send(.history(request(id: 6)))
            #expect(try await eve.error().code == .forbidden)
            await eve.leave()
        }
    }
}
