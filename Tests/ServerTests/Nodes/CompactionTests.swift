import Testing
import TidemarkLock
import TidemarkModel
import TidemarkNIOTransport
import TidemarkStore
import TidemarkWire

@testable import TidemarkAssembly
@testable import TidemarkNode

/// A server that forgets old data: a client that was away returns without dead records, and loses nothing.
@Suite(.timeLimit(.minutes(5))) struct CompactionTests {
    private static let directory = HeldScope(scope: ScopeID("directory"), since: 0)
    private static let workspace = WorkspaceID("w")

    /// Everything is old at once, so that no look at the wall clock decides here.
    private static let forgetsAtOnce: @Sendable (inout ServerLimits) -> Void = { limits in
        limits.node.compaction.keep = -3_600_000
        limits.node.compaction.clientGrace = 0
        limits.node.compaction.turnEvery = .seconds(-3_600)
        limits.node.compaction.pause = .zero
        limits.node.compaction.restFactor = 0
        limits.node.compaction.lookEvery = .seconds(86_400)
    }

    private func deletion(_ number: UInt64, of record: UInt64) -> Transaction {
        Transaction(
            id: Sample.id(number),
            mutations: [Mutation(key: RecordKey(collection: "users", id: Sample.id(record)), action: .delete)],
            clientTime: 0)
    }

    /// Ann writes two profiles, Bob sees them and leaves, Ann deletes the first.
    private func leaveAndDelete(_ server: TestServer) async throws -> (ann: TestClient, cursor: String, head: String) {
        let ann = try await TestClient.welcomed(server, as: "ann", 1)
        try await ann.push(from: 1, Sample.profile(10), Sample.profile(11))
        let cursor = try #require(try await ann.settled(through: 2).last?.cursor)
        let bob = try await TestClient.welcomed(server, as: "bob", 2)
        await bob.leave()
        try await ann.push(from: 3, deletion(12, of: 10))
        let head = try #require(try await ann.settled(through: 3).last?.cursor)
        return (ann, cursor, head)
    }

    private func service(_ server: TestServer) -> CompactionService {
        CompactionService(node: server.node)
    }

    @Test
    func `a client from below the horizon keeps its scopes by socket, to compare them, and fills them anew by pull`()
        async throws
    {
        let store = InMemoryStore()
        try await TestServer.running(over: OpenedStore(store), change: Self.forgetsAtOnce) {
            server in
            let (_, cursor, head) = try await leaveAndDelete(server)
            #expect(try await welcome(server, cursor, counter: 2).cursorState == .ok, "nothing is forgotten yet")
            try await service(server).takeTurns()
            #expect(store.snapshot.records(in: Self.workspace).map(\.key.id) == [Sample.id(11)])
            let again = try await welcome(server, cursor, counter: 3)
            #expect(again.cursorState == .behind && again.kept == [Self.directory])
            #expect(again.added.isEmpty && again.purged.isEmpty)
            for (cursor, state) in [(cursor, "resync"), (head, "ok")] {
                let pulled = try await server.post(
                    "/v1/pull", as: "bob", body: #"{"cursor":"\#(cursor)","scopes":[["directory",0]]}"#)
                #expect(pulled.text.contains(#""state":"\#(state)""#), "\(pulled.text)")
            }
            #expect(try await welcome(server, head, counter: 4).cursorState == .ok, "who stands on the horizon goes on")
        }
    }

    private func welcome(_ server: TestServer, _ cursor: String, counter: Int64) async throws -> Welcome {
        let bob = try await TestClient.greeting(
            server, as: "bob", 2, isNew: false, counter: counter, cursor: cursor, scopes: [Self.directory])
        defer { Task { await bob.leave() } }
        return try await bob.welcome()
    }

    @Test func `a connected client continues, and writes as before`() async throws {
        let store = InMemoryStore()
        try await TestServer.running(over: OpenedStore(store), change: Self.forgetsAtOnce) {
            server in
            let (ann, _, _) = try await leaveAndDelete(server)
            try await service(server).takeTurns()
            // Its tombstone is gone, and the record with it: the id is free.
            try await ann.push(from: 4, deletion(13, of: 10), Sample.profile(10, name: "anew"))
            let frames = try await ann.settled(through: 5)
            #expect(frames.flatMap { $0.settled?.outcomes ?? [] }.map(\.rejection?.code) == [.notFound, nil])
            #expect(frames.flatMap(\.records).map(\.born) == [4])
        }
    }

    @Test func `a clock that jumps makes the server forget no known revocation`() async throws {
        let store = InMemoryStore()
        let ahead = Lock<Milliseconds>(0)
        var surroundings = ServerAssembly.Surroundings()
        let now = surroundings.now
        surroundings.now = { now() + ahead.withLock { $0 } }
        try await TestServer.running(over: OpenedStore(store), surroundings: surroundings) {
            server in
            let headers = [("Authorization", "Bearer \(try server.token("eve"))")]
            _ = try await store.revoke(.user(UserID("eve")), before: now() + 5_000, in: Self.workspace, now: now())
            await server.node.followRevocations()
            #expect(try await server.call("GET", "/v1/clients", headers: headers).status == 401)
            ahead.withLock { $0 = 400 * 86_400_000 }
            _ = try await store.revoke(.user(UserID("dan")), before: now(), in: Self.workspace, now: now())
            await server.node.followRevocations()
            ahead.withLock { $0 = 0 }
            #expect(try await server.call("GET", "/v1/clients", headers: headers).status == 401)
        }
    }

    @Test func `a clock that jumps makes the server forget nothing, and the log reports it`() async throws {
        let (store, log) = (InMemoryStore(), LogCapture())
        let ahead = Lock<Milliseconds>(0)
        var surroundings = ServerAssembly.Surroundings()
        let now = surroundings.now
        surroundings.now = { now() + ahead.withLock { $0 } }
        try await TestServer.running(
            over: OpenedStore(store), surroundings: surroundings, log: log,
            change: { limits in
                Self.forgetsAtOnce(&limits)
                limits.node.compaction.keep = 90 * 86_400_000
            }
        ) { server in
            _ = try await leaveAndDelete(server)
            let service = service(server)
            let subject = Revocation.Subject.user(UserID("eve"))
            _ = try await store.revoke(subject, before: now(), in: Self.workspace, now: now())
            await server.node.followRevocations()
            ahead.withLock { $0 = 120 * 86_400_000 }
            for _ in 0..<3 {
                try await service.takeTurns()
                try await service.removeUnusedClients()
            }
            #expect(store.snapshot.horizon(of: Self.workspace) == 0)
            #expect(try await store.allClients(after: nil, limit: 9).count == 2)
            #expect(server.node.forgetting.now < now() + 3_600_000)
            _ = try await store.revoke(.user(UserID("dan")), before: now(), in: Self.workspace, now: server.node.now())
            #expect(try await store.revocations(after: 0, limit: 9).revocations.count == 2)
        }
        #expect(log.lines.count { $0.contains("The clock is ahead of all evidence") } == 1)
    }

    @Test func `an unseen client is removed, unless outcomes wait for it or it is connected`() async throws {
        let store = InMemoryStore()
        try await TestServer.running(over: OpenedStore(store), change: Self.forgetsAtOnce) {
            server in
            // 1 is connected; 2 has left without a write; 3 has left without having acknowledged its outcome.
            let ann = try await TestClient.welcomed(server, as: "ann", 1)
            let bob = try await TestClient.welcomed(server, as: "bob", 2)
            let cyd = try await TestClient.welcomed(server, as: "cyd", 3)
            try await cyd.push(from: 1, Sample.profile(20))
            _ = try await cyd.settled(through: 1)
            for client in [bob, cyd] {
                await client.leave()
                try await eventually {
                    !server.node.connectionCounts.isConnected(.init(workspace: Self.workspace, client: client.id))
                }
            }
            try await service(server).removeUnusedClients()
            let left = try await store.allClients(after: nil, limit: 9).map(\.place.client)
            #expect(left == [Sample.id(1), Sample.id(3)])
            let late = try await TestClient.greeting(server, as: "bob", 2, isNew: false, counter: 2)
            #expect(try await late.closeCode() == 4410)
            // The removal was a batch of the order, which reaches every client in time.
            try await ann.push(from: 1, Sample.profile(21))
            #expect(try await ann.settled(through: 1).flatMap(\.records).map(\.seq).last == 3)
        }
    }

    @Test func `the server compacts by itself, and logs what it did`() async throws {
        let (store, log) = (InMemoryStore(), LogCapture())
        try await TestServer.running(
            over: OpenedStore(store), log: log,
            change: { limits in
                Self.forgetsAtOnce(&limits)
                limits.node.compaction.lookEvery = .milliseconds(10)
            }
        ) { server in
            _ = try await leaveAndDelete(server)
            try await eventually { store.snapshot.records(in: Self.workspace).count <= 1 }
        }
        #expect(log.lines.contains { $0.hasPrefix("info Compacted a workspace") && $0.contains("tombstones=1") })
    }

    @Test func `a workspace that keeps its past longer is left alone`() async throws {
        let store = InMemoryStore()
        try await TestServer.running(over: OpenedStore(store), change: Self.forgetsAtOnce) {
            server in
            _ = try await leaveAndDelete(server)
            #expect(try await store.setKeep(86_400_000, of: Self.workspace))
            try await service(server).takeTurns()
            #expect(store.snapshot.horizon(of: Self.workspace) == 0)
        }
    }

    /// Makes every blob look decades old.
    private func age(_ blobs: InMemoryBlobStore) async throws {
        let all = DueStages(neededBelow: .max, unnamedAbove: BlobStage.withdrawnBound, withdrawnAbove: .min)
        for blob in try await blobs.dueBlobs(of: Self.workspace, all) {
            let stage: BlobStage =
                switch blob.stage {
                case .needed: .needed(since: 1)
                case .unnamed: .unnamed(since: 1)
                case .withdrawn: .withdrawn(since: 1)
                }
            #expect(try await blobs.move([blob], to: stage, of: Self.workspace) == 1)
        }
    }

    @Test func `unreferenced blobs are deleted while the server serves, and it logs that`() async throws {
        let (records, blobs, log) = (InMemoryStore(), InMemoryBlobStore(), LogCapture())
        try await TestServer.running(
            over: OpenedStore(records, blobs: blobs), log: log,
            change: Self.forgetsAtOnce
        ) { server in
            let ann = try await TestClient.welcomed(server, as: "ann", 1)
            try await ann.push(from: 1, Sample.conversation(10, of: "ann"))
            _ = try await ann.settled(through: 1)
            let room = BlobRoom(server: server, blobs: blobs)
            let (named, lonely) = (BlobRoom.bytes(1_000), BlobRoom.bytes(2_000))
            for bytes in [named, lonely] { #expect(try await room.call("PUT", bytes).status == 201) }
            let digest = BlobRoom.digest(named)
            try await ann.push(from: 2, Sample.message(11, in: 10, text: "see \(digest)"))
            _ = try await ann.settled(through: 2)
            let service = service(server)
            var statuses: [[Int]] = []
            for _ in 0..<4 {
                statuses.append([
                    try await room.call("GET", named).status, try await room.call("GET", lonely).status,
                    try await blobs.usage(of: Self.workspace).blobs,
                ])
                try await service.takeTurns()
                try await age(blobs)
                try await service.takeTurns()
            }
            #expect(statuses == [[200, 200, 2], [200, 200, 2], [200, 404, 2], [200, 404, 1]])
        }
        #expect(
            log.lines.contains {
                $0.hasPrefix("info Compacted the blobs of a workspace") && $0.contains("taken=1")
                    && $0.contains("taken_bytes=2000")
            })
    }
}
