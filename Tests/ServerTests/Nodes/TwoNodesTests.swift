import Testing
import TidemarkLock
import TidemarkModel
import TidemarkNIOTransport
import TidemarkNode
import TidemarkStore
import TidemarkWire

@testable import TidemarkAssembly

/// Hints between the nodes of a test.
private final class Relay: Sendable {
    private let ends = Lock<[UInt64: AsyncStream<CommitHint>.Continuation]>([:])

    struct End: CommitHints {
        let relay: Relay
        let id: UInt64
        let stream: AsyncStream<CommitHint>

        func announce(_ workspace: WorkspaceID, _ seq: SequenceNumber) {
            relay.ends.withLock { ends in
                for (id, end) in ends where id != self.id { end.yield(.grown(workspace, seq)) }
            }
        }

        func hints() -> AsyncStream<CommitHint> { stream }
    }

    func end(_ id: UInt64) -> End {
        let (stream, continuation) = AsyncStream.makeStream(of: CommitHint.self)
        ends.withLock { $0[id] = continuation }
        return End(relay: self, id: id, stream: stream)
    }
}

@Suite(.timeLimit(.minutes(5))) struct TwoNodesTests {
    /// Runs two members of a conversation on two nodes, writing in turns.
    private func conversation(
        _ store: InMemoryStore, _ left: any CommitHints, _ right: any CommitHints, pollEvery: Duration
    ) async throws {
        let change: @Sendable (inout ServerLimits) -> Void = { $0.node.pollEvery = pollEvery }
        try await TestServer.running(over: OpenedStore(store, isShared: true, hints: left), change: change) { one in
            try await TestServer.running(over: OpenedStore(store, isShared: true, hints: right), change: change) {
                other in
                let ann = try await TestClient.welcomed(one, as: "ann", 1)
                let bob = try await TestClient.welcomed(other, as: "bob", 2)
                try await ann.push(from: 1, Sample.conversation(10, of: "ann", "bob"))
                #expect(try await bob.changes().grants.map(\.role) == [.member])
                for turn in Int64(1)...5 {
                    try await bob.push(from: turn, Sample.message(100 + UInt64(turn), in: 10))
                    _ = try await bob.settled(through: turn)
                    var seen: [UniqueID] = []
                    while !seen.contains(Sample.id(100 + UInt64(turn))) {
                        seen += try await ann.changes().records.map(\.key.id)
                    }
                    try await ann.push(from: turn + 1, Sample.message(200 + UInt64(turn), in: 10))
                    seen = []
                    while !seen.contains(Sample.id(200 + UInt64(turn))) {
                        seen += try await bob.changes().records.map(\.key.id)
                    }
                }
            }
        }
    }

    @Test func `nodes on one store find each other's commits by polling`() async throws {
        try await conversation(InMemoryStore(), NoHints(), NoHints(), pollEvery: .milliseconds(20))
    }

    @Test func `nodes on one store find each other's commits by hints`() async throws {
        let relay = Relay()
        try await conversation(
            InMemoryStore(), relay.end(1), relay.end(2), pollEvery: .seconds(3_600))
    }

    @Test func `a client that is removed at one node is closed at the other`() async throws {
        let relay = Relay()
        let store = InMemoryStore()
        try await TestServer.running(over: OpenedStore(store, isShared: true, hints: relay.end(1))) { one in
            try await TestServer.running(over: OpenedStore(store, isShared: true, hints: relay.end(2))) { other in
                let (phone, desk) = (
                    try await TestClient.welcomed(other, as: "ann", 1),
                    try await TestClient.welcomed(other, as: "ann", 2)
                )
                let removed = try await one.call("DELETE", "/v1/clients/\(phone.id)", as: "ann")
                #expect(removed.status == 204)
                #expect(try await phone.closeCode() == 4410)
                try await desk.push(from: 1, Sample.profile(10))
                _ = try await desk.settled(through: 1)
                await desk.leave()
            }
        }
    }
}
