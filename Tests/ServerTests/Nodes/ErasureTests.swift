import Testing
import TidemarkModel
import TidemarkNIOTransport
import TidemarkStore
import TidemarkWire

@testable import TidemarkAssembly
@testable import TidemarkNode

/// A server on which a scope is erased: connected and returning clients learn of it through messages that every client
/// knows.
@Suite(.timeLimit(.minutes(5))) struct ErasureTests {
    private static let workspace = WorkspaceID("w")

    private func eraser(_ server: TestServer, _ store: InMemoryStore) -> Eraser {
        Eraser(
            store: store, erasing: store, blobs: nil,
            surroundings: Eraser.Surroundings(
                now: { server.node.now() }, nonce: { UInt64.random(in: 1...(.max)) },
                committed: { batch in
                    guard let feed = server.node.feeds[Self.workspace] else { return }
                    _ = feed.committed(batch)
                }))
    }

    @Test func `a connected client loses an erased scope, and may no longer write to it`() async throws {
        let store = InMemoryStore()
        try await TestServer.running(over: OpenedStore(store)) { server in
            let ann = try await TestClient.welcomed(server, as: "ann", 1)
            try await ann.push(from: 1, Sample.conversation(10, of: "ann", "bob"), Sample.message(11, in: 10))
            let cursor = try #require(try await ann.settled(through: 2).last?.cursor)
            _ = try await eraser(server, store).erase(
                Sample.scope(10), in: Self.workspace, openers: ["conversations"])
            var ends: [Changes.GrantChange] = []
            while ends.isEmpty { ends = try await ann.changes().grants }
            #expect(ends.map(\.scope) == [Sample.scope(10)] && ends[0].role == nil)
            try await ann.push(from: 3, Sample.message(12, in: 10), Sample.profile(13))
            let outcomes = try await ann.settled(through: 4).flatMap { $0.settled?.outcomes ?? [] }
            #expect(outcomes.map(\.rejection?.code) == [.forbidden, nil])
            // The cursor is in the ring, but the changes come from the store, which has nothing of the scope.
            let bob = try await TestClient.greeting(
                server, as: "bob", 2, cursor: cursor, scopes: [HeldScope(scope: Sample.scope(10), since: 1)])
            #expect(try await bob.welcome().purged == [Sample.scope(10)])
            #expect(try await bob.changes().records.allSatisfy { $0.scope != Sample.scope(10) })
        }
    }

    @Test func `a trusted backend's write into an erased scope is refused alone`() async throws {
        let store = InMemoryStore()
        try await TestServer.running(over: OpenedStore(store)) { server in
            let ann = try await TestClient.welcomed(server, as: "ann", 1)
            try await ann.push(from: 1, Sample.conversation(10, of: "ann"))
            _ = try await ann.settled(through: 1)
            _ = try await eraser(server, store).erase(
                Sample.scope(10), in: Self.workspace, openers: ["conversations"])
            let backend = try await TestClient.greeting(server, as: "backend", 5, isService: true)
            _ = try await backend.welcome()
            try await backend.push(from: 1, Sample.profile(20), Sample.message(21, in: 10), Sample.profile(22))
            let outcomes = try await backend.settled(through: 3).flatMap { $0.settled?.outcomes ?? [] }
            #expect(outcomes.map(\.rejection?.code) == [nil, .internalRejected, nil])
        }
    }

    @Test func `a client with a copy of an erased workspace is told to delete it, and that nothing more follows`()
        async throws
    {
        let store = InMemoryStore()
        try await TestServer.running(over: OpenedStore(store)) { server in
            let ann = try await TestClient.welcomed(server, as: "ann", 1)
            try await ann.push(from: 1, Sample.conversation(10, of: "ann"))
            let cursor = try #require(try await ann.settled(through: 1).last?.cursor)
            _ = try await eraser(server, store).erase(Self.workspace)
            // The poll finds it.
            await server.node.feeds[Self.workspace]?.readOn(from: server.node.reader)
            #expect(try await ann.closeCode() == 1001)
            let held = [HeldScope(scope: Sample.scope(10), since: 1), HeldScope(scope: ScopeID("directory"), since: 0)]
            for (client, isNew) in [(1, false), (9, true)] as [(UInt64, Bool)] {
                let again = try await TestClient.greeting(
                    server, as: "ann", client, isNew: isNew, counter: 2, cursor: cursor, scopes: held)
                let welcome = try await again.welcome()
                #expect(welcome.purged == held.map(\.scope) && welcome.kept.isEmpty && welcome.added.isEmpty)
                #expect(try await again.closeCode() == 4403)
            }
            let pulled = try await server.post("/v1/pull", as: "ann", body: #"{"scopes":[]}"#)
            #expect(pulled.status == 410 && pulled.text.contains("workspace_erased"), "\(pulled.text)")
        }
    }
}
