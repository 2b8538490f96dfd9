import Testing
import TidemarkLock
import TidemarkModel
import TidemarkNode
import TidemarkWire

@testable import TidemarkAssembly

@Suite(.timeLimit(.minutes(5))) struct HandshakeTests {
    @Test func `a new client is welcomed with the scopes that it may see`() async throws {
        try await TestServer.running { server in
            let client = try await TestClient.greeting(server, as: "ann", 1)
            let welcome = try await client.welcome()
            #expect(welcome.cursorState == .none)
            #expect(welcome.added == [.init(scope: ScopeID("directory"), since: 0, role: .member)])
            #expect(welcome.kept.isEmpty && welcome.purged.isEmpty)
            #expect(welcome.settledThrough == 0)
            let first = try await client.changes()
            #expect(first.isConsistent && first.from == welcome.cursor)
            #expect(server.node.connectionCount == 1)
        }
    }

    @Test func `a welcome names the token's user and the server's schema`() async throws {
        try await TestServer.running { server in
            let welcome = try await TestClient.greeting(server, as: "ann", 1).welcome()
            #expect(welcome.user == UserID("ann"))
            #expect(welcome.schema == SchemaLabel(name: "chat", version: 2, revision: 1))
        }
    }

    @Test func `a welcome names the server's release, and no answer to a stranger does`() async throws {
        try await TestServer.running { server in
            let welcome = try await TestClient.greeting(server, as: "ann", 1).welcome()
            #expect(welcome.release == Release.number)
            for path in ["/healthz", "/readyz", "/v1/info"] {
                #expect(try await !server.call("GET", path).text.contains(Release.number), "\(path)")
            }
        }
    }

    @Test func `a token that is missing, wrong or of another kind is 4401`() async throws {
        try await TestServer.running { server in
            for token in [nil, "", "x", try server.token("ann") + "x"] {
                let client = try await TestClient.open(server, 1)
                let hello = Hello(token: token, client: client.id, isNewClient: true, connection: 1)
                try await client.send(.hello(hello))
                #expect(try await client.closeCode() == 4401)
            }
            #expect(server.node.connectionCount == 0)
        }
    }

    @Test func `an unknown client and another user's client are 4410`() async throws {
        try await TestServer.running { server in
            let unknown = try await TestClient.greeting(server, as: "ann", 1, isNew: false)
            #expect(try await unknown.closeCode() == 4410)
            let owner = try await TestClient.welcomed(server, as: "ann", 2)
            let thief = try await TestClient.greeting(server, as: "eve", 2)
            #expect(try await thief.closeCode() == 4410)
            // The attempt did not disturb the owner.
            try await owner.push(from: 1, Sample.profile(10))
            #expect(try await owner.settled(through: 1).count == 1)
        }
    }

    @Test func `a second connection of a client closes the first with 4409, on any loops`() async throws {
        try await TestServer.running { server in
            var last = try await TestClient.welcomed(server, as: "ann", 1)
            for counter in Int64(2)...6 {
                let next = try await TestClient.greeting(server, as: "ann", 1, isNew: false, counter: counter)
                _ = try await next.welcome()
                #expect(try await last.closeCode() == 4409)
                last = next
            }
            // The server forgets a connection once the peer has answered its close frame.
            try await eventually { server.node.connectionCount <= 1 }
            #expect(server.node.connectionCount == 1)
            _ = try await last.changes()
            try await last.push(from: 1, Sample.profile(10))
            #expect(try await last.settled(through: 1).count == 1)
        }
    }

    @Test func `a user's connections are bounded with 4429, and one that ends makes room`() async throws {
        try await TestServer.running(limits: ["CONNECTIONS_PER_USER": "2"]) { server in
            let first = try await TestClient.welcomed(server, as: "ann", 1)
            let second = try await TestClient.welcomed(server, as: "ann", 2)
            let third = try await TestClient.greeting(server, as: "ann", 3)
            #expect(try await third.closeCode() == 4429)
            let bob = try await TestClient.welcomed(server, as: "bob", 4)
            await first.leave()
            try await eventually { server.node.connectionCount <= 2 }
            let again = try await TestClient.welcomed(server, as: "ann", 3)
            #expect(server.node.connectionCount == 3)
            // A connection lives as long as its object.
            withExtendedLifetime((second, bob, again)) {}
        }
    }

    @Test func `a store that does not answer is 4503`() async throws {
        let store = FaultyStore()
        store.faults.withLock { $0.sessionsLost = 1 }
        try await TestServer.running(over: OpenedStore(store)) { server in
            let refused = try await TestClient.greeting(server, as: "ann", 1)
            #expect(try await refused.closeCode() == 4503)
            _ = try await TestClient.welcomed(server, as: "ann", 1)
        }
    }

    @Test(arguments: ["", "[]", "{}", #"{"t":"ack","frames":1}"#, #"{"t":"push"}"#, #"{"t":"hello"}"#, "\u{0}"])
    func `a first message that is not a hello is 4400`(text: String) async throws {
        try await TestServer.running { server in
            let client = try await TestClient.open(server, 1)
            try await client.send(text)
            #expect(try await client.closeCode() == 4400)
        }
    }

    @Test func `a returning client with a cursor gets what it missed and nothing else`() async throws {
        try await TestServer.running { server in
            let first = try await TestClient.welcomed(server, as: "ann", 1)
            try await first.push(from: 1, Sample.profile(10))
            let cursor = try await first.settled(through: 1).last?.cursor
            await first.leave()
            let other = try await TestClient.welcomed(server, as: "bob", 2)
            try await other.push(from: 1, Sample.profile(20), Sample.profile(21))
            _ = try await other.settled(through: 2)

            let directory = HeldScope(scope: ScopeID("directory"), since: 0)
            let again = try await TestClient.greeting(
                server, as: "ann", 1, isNew: false, counter: 2, cursor: cursor, scopes: [directory])
            let welcome = try await again.welcome()
            #expect(welcome.cursorState == .ok && welcome.kept == [directory] && welcome.added.isEmpty)
            #expect(welcome.cursor == cursor && welcome.settledThrough == 1)
            var frames: [Changes] = []
            while frames.last?.isConsistent != true { frames.append(try await again.changes()) }
            #expect(frames.flatMap(\.records).map(\.key.id) == [Sample.id(20), Sample.id(21)])
            #expect(frames.first?.from == cursor)
        }
    }
}
