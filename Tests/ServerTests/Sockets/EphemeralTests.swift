import Testing
import TidemarkLock
import TidemarkModel
import TidemarkNode
import TidemarkStore
import TidemarkWire

@testable import TidemarkAssembly

@Suite(.timeLimit(.minutes(5))) struct EphemeralTests {
    private func typing(_ lifetime: Int64 = 6_000, _ payload: Fields = Fields()) -> Ephemeral {
        Ephemeral(scope: Sample.scope(10), kind: "typing", payload: payload, lifetime: lifetime)
    }

    private func named(_ message: Ephemeral, _ user: String) -> Ephemeral {
        var message = message
        message.user = UserID(user)
        return message
    }

    @Test func `a member's message reaches the other live members, and uses no number`() async throws {
        try await TestServer.running { server in
            let ann = try await TestClient.welcomed(server, as: "ann", 1)
            let desk = try await TestClient.welcomed(server, as: "ann", 2)
            let bob = try await TestClient.welcomed(server, as: "bob", 3)
            let phone = try await TestClient.welcomed(server, as: "bob", 4)
            let eve = try await TestClient.welcomed(server, as: "eve", 5)
            try await ann.push(from: 1, Sample.conversation(10, of: "ann", "bob"))
            for member in [desk, bob, phone] { #expect(try await member.changes().grants.count == 1) }
            _ = try await ann.settled(through: 1)
            try await ann.send(.ephemeral(typing()))
            for member in [desk, bob, phone] { #expect(try await member.ephemeral() == named(typing(), "ann")) }
            try await bob.send(.ephemeral(typing()))
            for member in [ann, desk, phone] { #expect(try await member.ephemeral() == named(typing(), "bob")) }
            // A client that received anything else would get it before this.
            try await ann.push(from: 2, Sample.profile(30))
            for everyone in [ann, desk, bob, phone, eve] {
                #expect(try await everyone.changes().records.map(\.seq) == [2])
            }
        }
    }

    @Test func `a user who is not a member, or no longer, neither receives nor is received`() async throws {
        try await TestServer.running { server in
            let ann = try await TestClient.welcomed(server, as: "ann", 1)
            let bob = try await TestClient.welcomed(server, as: "bob", 2)
            let eve = try await TestClient.welcomed(server, as: "eve", 3)
            try await ann.push(from: 1, Sample.conversation(10, of: "ann", "bob"))
            _ = try await ann.settled(through: 1)
            _ = try await bob.changes()
            try await ann.push(from: 2, Sample.removal(11, of: "bob", from: 10))
            _ = try await ann.settled(through: 2)
            #expect(try await bob.changes().grants.map(\.role) == [nil])
            for stranger in [bob, eve] { try await stranger.send(.ephemeral(typing())) }
            try await ann.send(.ephemeral(typing()))
            try await bob.push(from: 1, Sample.profile(30))
            for everyone in [ann, bob, eve] { #expect(try await everyone.changes().records.map(\.seq) == [3]) }
        }
    }

    @Test func `a message over a limit is dropped, and the connection goes on`() async throws {
        try await TestServer.running { server in
            let ann = try await TestClient.welcomed(server, as: "ann", 1)
            let bob = try await TestClient.welcomed(server, as: "bob", 2)
            try await ann.push(from: 1, Sample.conversation(10, of: "ann", "bob"))
            _ = try await ann.settled(through: 1)
            _ = try await bob.changes()
            try await ann.send(.ephemeral(typing(10_001)))
            try await ann.send(.ephemeral(typing(1, ["a": .string(String(repeating: "x", count: 1_024))])))
            try await ann.send(.ephemeral(Ephemeral(scope: Sample.scope(10), kind: "presence", lifetime: 1)))
            for number in Int64(1)...400 { try await ann.send(.ephemeral(typing(number))) }
            try await ann.push(from: 2, Sample.profile(30))
            var heard: [Int64] = []
            while case .ephemeral(let message) = try await bob.next() { heard.append(message.lifetime) }
            // Three of the ten were used by the refused messages; a slow machine earns a few while it sends.
            #expect(heard.prefix(7) == [1, 2, 3, 4, 5, 6, 7] && heard.count < 400)
            // The kind is the server's: sending it is a question, and no other client receives it.
            var (present, seqs): (Set<UserID>, [SequenceNumber]) = ([], [])
            while present.count < 2 || seqs.isEmpty {
                switch try await ann.next() {
                case .ephemeral(let message):
                    #expect(message.payload == ["online": true])
                    if let user = message.user { present.insert(user) }
                case .changes(let changes): seqs += changes.records.map(\.seq)
                case let other: throw TestClient.Unexpected(message: other)
                }
            }
            #expect(present == [UserID("ann"), UserID("bob")] && seqs == [2])
        }
    }

    @Test func `a client whose window is full receives none, and received ones are not in the window`() async throws {
        try await TestServer.running(limits: ["WINDOW_FRAMES": "2"]) { server in
            let ann = try await TestClient.welcomed(server, as: "ann", 1)
            let bob = try await TestClient.welcomed(server, as: "bob", 2)
            try await ann.push(from: 1, Sample.conversation(10, of: "ann", "bob"))
            _ = try await ann.settled(through: 1)
            _ = try await bob.changes()
            for lifetime in Int64(1)...4 { try await ann.send(.ephemeral(typing(lifetime))) }
            for lifetime in Int64(1)...4 { #expect(try await bob.ephemeral().lifetime == lifetime) }
            for number in Int64(2)...3 {
                try await ann.push(from: number, Sample.message(20 + UInt64(number), in: 10))
                _ = try await ann.settled(through: number)
                #expect(try await bob.changes(acknowledging: false).records.map(\.seq) == [number])
            }
            try await ann.send(.ephemeral(typing(5)))
            // Its answer arrives after everything that the earlier message caused.
            try await ann.push(from: 4, Sample.message(30, in: 10))
            _ = try await ann.settled(through: 4)
            try await bob.acknowledge()
            #expect(try await bob.changes().records.map(\.seq) == [4])
        }
    }

    @Test func `members on two nodes receive each other's messages`() async throws {
        let (store, relay) = (InMemoryStore(), TestRelay())
        let change: @Sendable (inout ServerLimits) -> Void = { $0.node.pollEvery = .milliseconds(20) }
        try await TestServer.running(
            over: OpenedStore(store, isShared: true, relay: relay.end()), change: change
        ) { one in
            try await TestServer.running(
                over: OpenedStore(store, isShared: true, relay: relay.end()), change: change
            ) { other in
                let ann = try await TestClient.welcomed(one, as: "ann", 1)
                let bob = try await TestClient.welcomed(other, as: "bob", 2)
                let eve = try await TestClient.welcomed(other, as: "eve", 3)
                try await ann.push(from: 1, Sample.conversation(10, of: "ann", "bob"))
                _ = try await ann.settled(through: 1)
                #expect(try await bob.changes().grants.count == 1)
                try await ann.send(.ephemeral(typing(1_000, ["a": "é\n\"x"])))
                #expect(try await bob.ephemeral() == named(typing(1_000, ["a": "é\n\"x"]), "ann"))
                try await bob.send(.ephemeral(typing()))
                #expect(try await ann.ephemeral() == named(typing(), "bob"))
                try await ann.push(from: 2, Sample.profile(30))
                #expect(try await eve.changes().records.map(\.seq) == [2])
            }
        }
    }
}

/// Messages between the nodes of a test.
final class TestRelay: Sendable {
    private let ends = Lock<[Int: AsyncStream<String>.Continuation]>([:])

    struct End: NodeRelay {
        let relay: TestRelay
        let id: Int
        let stream: AsyncStream<String>

        func tell(_ word: String) {
            relay.ends.withLock { ends in
                for (id, end) in ends where id != self.id { end.yield(word) }
            }
        }

        func words() -> AsyncStream<String> { stream }
    }

    func end() -> End {
        let (stream, continuation) = AsyncStream.makeStream(of: String.self)
        let id = ends.withLock { ends in
            ends[ends.count] = continuation
            return ends.count - 1
        }
        return End(relay: self, id: id, stream: stream)
    }
}
