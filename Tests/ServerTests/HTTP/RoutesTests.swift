import Testing
import TidemarkLock
import TidemarkModel
import TidemarkNIOTransport
import TidemarkSequencer
import TidemarkStore
import TidemarkWire

@testable import TidemarkAssembly

@Suite(.timeLimit(.minutes(5))) struct RoutesTests {
    private static let client = Sample.id(1).description

    private func push(_ server: TestServer, from first: Int64, _ transactions: Transaction...) async throws
        -> NIOHTTPAnswer
    {
        let push = Push(first: first, ackedThrough: 0, entries: transactions.map { Push.Entry($0) })
        let call = PushCall(client: Sample.id(1), connection: 1, push: push)
        return try await server.post("/v1/push", as: "ann", body: String(decoding: call.encode(), as: UTF8.self))
    }

    private func register(_ server: TestServer, as user: String = "ann") async throws -> NIOHTTPAnswer {
        try await server.post("/v1/clients", as: user, body: #"{"client":"\#(Self.client)"}"#)
    }

    @Test func `health, readiness and profile need no token`() async throws {
        try await TestServer.running { server in
            #expect(try await server.call("GET", "/healthz").status == 200)
            #expect(try await server.call("GET", "/readyz").status == 200)
            let profile = try await server.call("GET", "/v1/info")
            #expect(profile.status == 200 && profile.header("content-type") == "application/json")
            let value = try JSONReader.read(profile.body) { try $0.fields() }
            #expect(value["versions"] == .array([.integer(1)]))
            #expect(value["schema"] == .object(["name": "chat", "version": 2, "revision": 1]))
            guard case .object(let limits)? = value["limits"] else {
                Issue.record("no limits")
                return
            }
            #expect(limits["push"] == 200)
        }
    }

    @Test(arguments: ["/v1/clients", "/v1/push", "/v1/pull", "/v1/page", "/v1/history"])
    func `a call needs a token`(path: String) async throws {
        try await TestServer.running { server in
            let none = try await server.post(path, body: "{}")
            #expect(none.status == 401 && none.header("www-authenticate") == #"Bearer realm="tidemark""#)
            for value in ["Bearer x", "Bearer", "Basic eA==", "Bearer \(try server.token("ann"))x"] {
                let wrong = try await server.post(path, body: "{}", headers: [("Authorization", value)])
                #expect(wrong.status == 401, "\(value)")
                #expect(wrong.header("www-authenticate")?.hasPrefix("Bearer") == true)
            }
        }
    }

    @Test(arguments: [
        ("/v1/clients", "{}"), ("/v1/clients", #"{"client":"x"}"#), ("/v1/clients", #"{"client":1}"#),
        ("/v1/push", "{}"), ("/v1/push", "[]"), ("/v1/push", ""), ("/v1/push", "\u{0}"),
        ("/v1/push", #"{"client":"\#(client)","conn":1,"first":0,"m":[1]}"#),
        ("/v1/push", #"{"client":"\#(client)","conn":1,"first":9007199254740992,"m":[1]}"#),
        ("/v1/push", #"{"client":"\#(client)","conn":1,"first":1,"m":[]}"#),
        ("/v1/push", #"{"client":"\#(client)","conn":1,"first":1,"m":[1}"#),
        ("/v1/pull", #"{"scopes":[["a"]]}"#), ("/v1/pull", #"{"scopes":[["",1]]}"#), ("/v1/pull", #"{"wait_ms":-1}"#),
        ("/v1/page", "{}"), ("/v1/page", #"{"scope":"a","since":0,"coll":"users","limit":0}"#),
        ("/v1/page", String(repeating: "[", count: 1_000)),
        ("/v1/history", "{}"), ("/v1/history", #"{"scope":"a","coll":"users","id":"x","limit":1}"#),
    ])
    func `a call that violates the protocol is 400 and says why`(path: String, body: String) async throws {
        try await TestServer.running { server in
            let answer = try await server.post(path, as: "ann", body: body)
            #expect(answer.status == 400)
            #expect(answer.text.hasPrefix(#"{"code":"invalid","msg":""#))
        }
    }

    @Test func `an unknown address is 404 and a large body 413`() async throws {
        try await TestServer.running(limits: ["MESSAGE_BYTES": "4096"]) { server in
            for (method, path) in [("GET", "/"), ("GET", "/v1/push"), ("POST", "/v2/push"), ("PUT", "/v1/../etc")] {
                let answer = try await server.call(method, path, as: "ann")
                #expect(answer.status == 404 && answer.text == #"{"code":"not_found","msg":"no such address"}"#)
            }
            let large = try await server.post("/v1/push", as: "ann", body: String(repeating: "x", count: 4_097))
            #expect(large.status == 413 && large.text.contains(#""code":"too_large""#))
        }
    }

    @Test func `a client is registered once, for one user`() async throws {
        try await TestServer.running { server in
            for _ in 0..<2 {
                let answer = try await register(server)
                #expect(answer.status == 200 && answer.text == #"{"client":"\#(Self.client)","lmid":0}"#)
            }
            let taken = try await register(server, as: "eve")
            #expect(taken.status == 409 && taken.text.contains(#""code":"client_taken""#))
        }
    }

    @Test func `a user's clients are bounded`() async throws {
        var limits = StoreLimits()
        limits.clientsPerUserMax = 1
        let store = InMemoryStore(MemoryTables(limits: limits))
        try await TestServer.running(over: OpenedStore(store)) { server in
            #expect(try await register(server).status == 200)
            let more = try await server.post("/v1/clients", as: "ann", body: #"{"client":"\#(Sample.id(2))"}"#)
            #expect(more.status == 429 && more.text.contains(#""code":"quota""#))
        }
    }

    @Test func `a push is answered when it is settled, each time the same`() async throws {
        try await TestServer.running { server in
            _ = try await register(server)
            for _ in 0..<2 {
                let answer = try await push(server, from: 1, Sample.profile(10), Sample.message(11, in: 99))
                #expect(answer.status == 200)
                let settled = try PushAnswer.decode(answer.body)
                #expect(settled.settledThrough == 2)
                #expect(settled.outcomes.map(\.seq) == [1, 1])
                #expect(settled.outcomes.map { $0.rejection == nil } == [true, false])
            }
        }
    }

    @Test func `a transaction over a limit of JSON is refused alone, and its neighbours take effect`() async throws {
        try await TestServer.running { server in
            _ = try await register(server)
            let good = [10, 11].map { String(decoding: TransactionCoding.encode(Sample.profile($0)), as: UTF8.self) }
            let abyss = String(repeating: "[", count: 2_000) + String(repeating: "]", count: 2_000)
            let bad = [abyss, String(repeating: "9", count: 65)].enumerated().map { place, value in
                #"{"id":"\#(Sample.id(20 + UInt64(place)))","at":1,"ops":[{"o":"put","c":"users","i":"\#(Sample.id(30))","#
                    + #""f":{"displayName":\#(value)}}]}"#
            }
            let list = [good[0], bad[0], bad[1], good[1]].joined(separator: ",")
            let answer = try await server.post(
                "/v1/push", as: "ann", body: #"{"client":"\#(Self.client)","conn":1,"first":1,"m":[\#(list)]}"#)
            let settled = try PushAnswer.decode(answer.body)
            #expect(settled.outcomes.map { $0.rejection?.code } == [nil, .invalid, .invalid, nil])
            let socket = try await TestClient.greeting(server, as: "ann", 1, isNew: false, counter: 5)
            _ = try await socket.welcome()
            _ = try await socket.changes()
            let again = [bad[1], bad[0]].joined(separator: ",")
            try await socket.send(#"{"t":"push","first":5,"acked":4,"m":[\#(again)]}"#)
            let outcomes = try await socket.settled(through: 6).compactMap(\.settled).flatMap(\.outcomes).suffix(2)
            #expect(outcomes.map { $0.rejection?.code } == [.invalid, .invalid])
        }
    }

    @Test func `a push that cannot be settled says what prevents it`() async throws {
        try await TestServer.running { server in
            let unknown = try await push(server, from: 1, Sample.profile(10))
            #expect(unknown.status == 409 && unknown.text.contains(#""code":"client_unknown""#))
            _ = try await register(server)
            let gap = try await push(server, from: 3, Sample.profile(10))
            #expect(gap.status == 409 && gap.text == #"{"code":"gap","msg":"go on from 1","lmid":0}"#)
            _ = try await push(server, from: 1, Sample.profile(10))
            let forked = try await push(server, from: 1, Sample.profile(11))
            #expect(forked.status == 409 && forked.text.contains(#""code":"client_forked""#))
            let socket = try await TestClient.greeting(server, as: "ann", 1, isNew: false, counter: 5)
            _ = try await socket.welcome()
            _ = try await socket.changes()
            try await socket.push(from: 2, Sample.profile(12))
            _ = try await socket.settled(through: 2)
            let stale = try await push(server, from: 3, Sample.profile(13))
            #expect(stale.status == 409 && stale.text.contains(#""code":"stale_conn""#))
        }
    }

    @Test func `pushes over HTTP are bounded in rate and length`() async throws {
        try await TestServer.running(limits: ["BURST": "2"], change: TestServer.refillsNothing) { server in
            _ = try await register(server)
            #expect(try await push(server, from: 1, Sample.profile(10), Sample.profile(11)).status == 200)
            let limited = try await push(server, from: 3, Sample.profile(12), Sample.profile(13))
            #expect(limited.status == 429 && limited.text.contains(#""code":"rate_limited""#))
            #expect(limited.header("retry-after") == "3")
            let unread = try await push(server, from: 4_097, Sample.profile(10))
            #expect(unread.status == 503 && unread.text.contains("4096 outcomes are not acknowledged"))
            let many = Push(first: 3, ackedThrough: 0, entries: (0..<201).map { Push.Entry(Sample.profile($0)) })
            let call = PushCall(client: Sample.id(1), connection: 1, push: many)
            let refused = try await server.post(
                "/v1/push", as: "ann", body: String(decoding: call.encode(), as: UTF8.self))
            #expect(refused.status == 400)
        }
    }

    @Test func `a store that remains unavailable is 503`() async throws {
        let store = FaultyStore()
        try await TestServer.running(over: OpenedStore(store), change: { $0.lane.attemptsMax = 2 }) { server in
            _ = try await register(server)
            // The owner of a client is read once.
            for isKnown in [false, true] {
                store.faults.withLock { ($0.commitsLost, $0.sessionsLost) = isKnown ? (2, 1) : (0, 2) }
                let lost = try await push(server, from: isKnown ? 2 : 1, Sample.profile(10))
                #expect(lost.status == 503 && lost.text.contains(#""code":"unavailable""#))
                #expect(lost.header("retry-after") == "1")
                let pull = try await server.post("/v1/pull", as: "ann", body: "{}")
                #expect(pull.status == 503)
                #expect(try await push(server, from: isKnown ? 2 : 1, Sample.profile(isKnown ? 11 : 10)).status == 200)
            }
        }
    }

    @Test func `a page is sent to members, under the grant that they hold`() async throws {
        try await TestServer.running { server in
            _ = try await register(server)
            _ = try await push(
                server, from: 1, Sample.conversation(10, of: "ann"), Sample.message(11, in: 10),
                Sample.message(12, in: 10), Sample.message(13, in: 10))
            let body = { (since: Int, coll: String, before: String) in
                #"{"rid":7,"scope":"\#(Sample.scope(10))","since":\#(since),"coll":"\#(coll)","limit":2\#(before)}"#
            }
            let first = try await server.post("/v1/page", as: "ann", body: body(1, "messages", ""))
            let page = try PageAnswer.decode(first.body)
            #expect(page.id == 7 && page.changes.map(\.key.id) == [Sample.id(13), Sample.id(12)])
            let next = page.next.map { #","before":\#($0)"# } ?? ""
            let rest = try await server.post("/v1/page", as: "ann", body: body(1, "messages", next))
            #expect(try PageAnswer.decode(rest.body).changes.map(\.key.id) == [Sample.id(11)])
            #expect(try PageAnswer.decode(rest.body).next == nil)
            for (user, since, collection) in [("eve", 1, "messages"), ("ann", 2, "messages"), ("ann", 1, "nowhere")] {
                let refused = try await server.post("/v1/page", as: user, body: body(since, collection, ""))
                #expect(refused.status == 403 && refused.text.contains(#""code":"forbidden""#))
            }
        }
    }
}
