import Testing
import TidemarkEdge
import TidemarkLock
import TidemarkModel
import TidemarkNIOTransport
import TidemarkNode
import TidemarkStore
import TidemarkWire

@testable import TidemarkAssembly

/// The bounds of one user over HTTP, and the work that the server does for users without access.
@Suite(.timeLimit(.minutes(5))) struct CallBoundsTests {
    private static let waitingPull = #"{"scopes":[["directory",0]],"wait_ms":25000,"cursor":"#

    /// The body of a pull that waits for changes after the present head.
    private func waitingPull(_ server: TestServer, as user: String) async throws -> String {
        let answer = try await server.post("/v1/pull", as: user, body: "{}")
        let frames = try PullAnswer.decode(answer.body).frames
        guard let last = frames.last, case .changes(let changes) = try ServerMessage.decode(last) else {
            throw WireError("no frame")
        }
        return Self.waitingPull + "\"\(changes.cursor)\"}"
    }

    private func push(_ server: TestServer, client: UInt64, _ record: UInt64) async throws -> Int {
        let push = Push(first: 1, ackedThrough: 0, entries: [Push.Entry(Sample.profile(record))])
        let call = PushCall(client: Sample.id(client), connection: 1, push: push)
        return try await server.post("/v1/push", as: "bob", body: String(decoding: call.encode(), as: UTF8.self)).status
    }

    @Test func `a user's calls in progress are bounded, and others have theirs`() async throws {
        let store = FaultyStore()
        try await TestServer.running(over: OpenedStore(store), limits: ["CALLS_PER_USER": "2"]) { server in
            for client in [UInt64(1), 2] {
                _ = try await server.post("/v1/clients", as: "bob", body: #"{"client":"\#(Sample.id(client))"}"#)
            }
            store.faults.withLock { $0.isHeld = true }
            async let first = push(server, client: 1, 11)
            async let second = push(server, client: 2, 12)
            try await eventually { server.calls >= 2 }
            for path in ["/v1/pull", "/v1/clients", "/v1/push", "/v1/page", "/v1/history"] {
                let third = try await server.post(path, as: "bob", body: "{}")
                #expect(third.status == 429 && third.text.contains(#""code":"rate_limited""#))
                #expect(third.text.contains("2 calls in progress") && third.header("retry-after") == "1")
                #expect(third.header("connection") == "close")
            }
            #expect(try await server.call("GET", "/v1/blobs/x?scope=s", as: "bob").status == 429)
            #expect(try await server.post("/v1/pull", as: "ann", body: "{}").status == 200)
            store.release()
            #expect(try await [first, second] == [200, 200])
            #expect(server.calls == 0)
            #expect(try await server.post("/v1/pull", as: "bob", body: "{}").status == 200)
        }
    }

    @Test func `a waiting pull is one of its user's calls in progress`() async throws {
        try await TestServer.running { server in
            let body = try await waitingPull(server, as: "bob")
            async let waiting = server.post("/v1/pull", as: "bob", body: body)
            try await eventually { server.watchers != 0 }
            #expect(server.calls == 1)
            await server.stop()
            #expect(try await waiting.status == 200)
        }
    }

    @Test func `health and readiness are answered when all connections are taken`() async throws {
        try await TestServer.running(
            limits: ["CONNECTIONS": "1"], change: { $0.edge.probeDeadline = .seconds(60) }
        ) { server in
            let ann = try await TestClient.welcomed(server, as: "ann", 1)
            for path in ["/healthz", "/readyz"] {
                #expect(try await server.call("GET", path).status == 200)
            }
            let other = try await server.call("GET", "/v1/info")
            #expect(other.status == 503 && other.text.contains(#""code":"overloaded""#))
            await ann.leave()
        }
    }

    @Test func `a push that names another user's client uses up nothing of that client's rate`() async throws {
        try await TestServer.running(limits: ["BURST": "2"], change: TestServer.refillsNothing) { server in
            _ = try await server.post("/v1/clients", as: "ann", body: #"{"client":"\#(Sample.id(1))"}"#)
            func push(as user: String, _ first: UInt64) async throws -> NIOHTTPAnswer {
                let entries = [Sample.profile(first), Sample.profile(first + 1)].map { Push.Entry($0) }
                let call = PushCall(
                    client: Sample.id(1), connection: 1, push: Push(first: 1, ackedThrough: 0, entries: entries))
                return try await server.post("/v1/push", as: user, body: String(decoding: call.encode(), as: UTF8.self))
            }
            for _ in 0..<3 {
                let refused = try await push(as: "eve", 20)
                #expect(refused.status == 409 && refused.text.contains(#""code":"client_unknown""#))
            }
            #expect(try await push(as: "ann", 10).status == 200)
            #expect(try await push(as: "ann", 10).status == 429)
        }
    }

    @Test func `looking up the owners of invented clients is bounded for each user`() async throws {
        let change: (inout ServerLimits) -> Void = {
            $0.node.clientLookupsBurst = 3
            $0.node.clientLookupsPerSecond = 0
        }
        try await TestServer.running(change: change) { server in
            var statuses: [Int] = []
            for number in UInt64(1)...5 {
                let push = Push(first: 1, ackedThrough: 0, entries: [Push.Entry(Sample.profile(10))])
                let call = PushCall(client: Sample.id(number), connection: 1, push: push)
                let answer = try await server.post(
                    "/v1/push", as: "eve", body: String(decoding: call.encode(), as: UTF8.self))
                statuses.append(answer.status)
            }
            #expect(statuses == [409, 409, 409, 429, 429])
        }
    }

    @Test(arguments: [
        ("/v1/page", #""coll":"messages""#), ("/v1/history", #""coll":"messages","id":"\#(Sample.id(11))""#),
    ])
    func `nothing is read for a user without access`(path: String, what: String) async throws {
        let store = FaultyStore()
        try await TestServer.running(over: OpenedStore(store)) { server in
            let ann = try await TestClient.welcomed(server, as: "ann", 1)
            try await ann.push(from: 1, Sample.conversation(10, of: "ann"), Sample.message(11, in: 10))
            _ = try await ann.settled(through: 2)
            let body = #"{"rid":1,"scope":"\#(Sample.scope(10))","since":1,\#(what),"limit":1}"#
            #expect(try await server.post(path, as: "eve", body: body).status == 403)
            #expect(store.faults.withLock { $0.reads } == 0)
            #expect(try await server.post(path, as: "ann", body: body).status == 200)
            #expect(store.faults.withLock { $0.reads } == 1)
        }
    }

    @Test(arguments: [
        ("/v1/page", #""coll":"messages""#), ("/v1/history", #""coll":"messages","id":"\#(Sample.id(11))""#),
    ])
    func `a user who loses access during the read does not get its result`(path: String, what: String) async throws {
        let store = FaultyStore()
        try await TestServer.running(over: OpenedStore(store)) { server in
            let ann = try await TestClient.welcomed(server, as: "ann", 1)
            try await ann.push(from: 1, Sample.conversation(10, of: "ann", "bob"), Sample.message(11, in: 10))
            _ = try await ann.settled(through: 2)
            let body = #"{"rid":1,"scope":"\#(Sample.scope(10))","since":1,\#(what),"limit":1}"#
            store.faults.withLock {
                $0.beforeRead = {
                    try await ann.push(from: 3, Sample.removal(12, of: "bob", from: 10))
                    _ = try await ann.settled(through: 3)
                }
            }
            #expect(try await server.post(path, as: "bob", body: body).status == 403)
        }
    }

    @Test func `a pull waits no longer than its token is valid`() async throws {
        try await TestServer.running { server in
            let body = try await waitingPull(server, as: "bob")
            let start = ContinuousClock.now
            // Ten seconds are left of the minute by which clocks may differ.
            let token = try await server.expiredToken("bob", since: .seconds(50))
            let answer = try await server.post("/v1/pull", body: body, headers: [("Authorization", "Bearer \(token)")])
            #expect(answer.status == 200)
            #expect(ContinuousClock.now - start < .seconds(20))
        }
    }

    @Test func `any number of readiness probes ask the store only once in a while`() async throws {
        let store = FaultyStore()
        try await TestServer.running(over: OpenedStore(store), change: { $0.node.probeLifetime = 600_000 }) { server in
            for _ in 0..<20 {
                let answer = try await server.call("GET", "/readyz")
                #expect(answer.status == 200)
            }
            #expect(store.faults.withLock { $0.probes } == 1)
        }
    }
}
