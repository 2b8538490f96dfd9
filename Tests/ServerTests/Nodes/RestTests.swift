import Crypto
import Testing
import TidemarkHub
import TidemarkModel
import TidemarkStore
import TidemarkWire

@testable import TidemarkAssembly
@testable import TidemarkNode

/// Memory that a process frees: recent batches beyond a bound, workspaces without connections.
@Suite(.timeLimit(.minutes(5))) struct RestTests {
    private static let workspace = WorkspaceID("dev")
    private static let seal = CursorSeal(key: SymmetricKey(data: Array("a key of the test suite".utf8)))

    @Test func `the rings of all workspaces share one bound, and the largest gives way`() throws {
        let (busy, quiet) = (WorkspaceID("busy"), WorkspaceID("quiet"))
        var rings = try Rings(bytesMax: 20 * Rings.batchBytes)
        for seq in Int64(1)...5 { rings.commit(seq, in: quiet) }
        for seq in Int64(1)...100 { rings.commit(seq, in: busy) }
        #expect((1...20).contains(rings.hub.ringBytes / Rings.batchBytes))
        #expect(try #require(rings.hub.ring(of: quiet)).batch(after: 0) != nil)
        #expect(try #require(rings.hub.ring(of: busy)).batch(after: 99) != nil)
        #expect(try #require(rings.hub.ring(of: busy)).batch(after: 50) == nil)
    }

    @Test func `batches are forgotten with age, and the tail stays`() throws {
        var rings = try Rings(bytesMax: .max)
        for seq in Int64(1)...5 { rings.commit(seq, in: Self.workspace) }
        var effects: [SessionEffect] = []
        rings.hub.apply(.tick, now: HubLimits().ringAgeMax + 4, into: &effects)
        let ring = try #require(rings.hub.ring(of: Self.workspace))
        #expect(ring.batch(after: 2) == nil && ring.batch(after: 3) != nil && ring.tail.seq == 5)
        rings.hub.apply(.tick, now: .max, into: &effects)
        #expect(rings.hub.ringBytes == 0)
        rings.commit(6, in: Self.workspace)
        #expect(rings.hub.ringBytes == Rings.batchBytes)
    }

    @Test func `no batch from before an erasure stays in memory`() throws {
        var rings = try Rings(bytesMax: .max)
        for seq in Int64(1)...5 { rings.commit(seq, in: Self.workspace) }
        rings.commit(6, in: Self.workspace, forgets: true)
        let ring = try #require(rings.hub.ring(of: Self.workspace))
        #expect(ring.count == 1 && ring.batch(after: 5) != nil && ring.tail.seq == 6)
        #expect(rings.hub.ringBytes == Rings.batchBytes)
    }

    @Test func `a workspace rests after long disuse, and is opened anew`() async throws {
        let feeds = Feeds(inboxes: [], seal: Self.seal)
        let feed = feeds.open(Self.workspace)
        let head = Head(seq: 3, nonce: 1, time: 1, epoch: 1)
        #expect(try await feed.follow(now: 1) { () async throws(StoreError) in head })
        #expect(feeds.rest(afterIdle: 2, used: []).isEmpty)
        #expect(feeds.rest(afterIdle: 2, used: [Self.workspace]).isEmpty)
        #expect(feeds.rest(afterIdle: 2, used: []).isEmpty)
        #expect(feeds.rest(afterIdle: 2, used: []).map(\.workspace) == [Self.workspace])
        #expect(feeds[Self.workspace] == nil)
        #expect(try await !feed.follow(now: 1) { () async throws(StoreError) in head })
        #expect(try await feeds.open(Self.workspace).follow(now: 1) { () async throws(StoreError) in head })
    }

    @Test func `a batch that is committed while the store is asked for the head is not lost`() async throws {
        let feed = Feeds(inboxes: [], seal: Self.seal).open(Self.workspace)
        let next = CommittedBatch(low: 4, head: Head(seq: 4, nonce: 4, time: 1, epoch: 1))
        _ = try await feed.follow(now: 1) { () async throws(StoreError) in
            #expect(!feed.committed(next))
            return Head(seq: 3, nonce: 3, time: 1, epoch: 1)
        }
        #expect(feed.head == next.head)
    }

    @Test func `a client comes back to a workspace that rested`() async throws {
        try await TestServer.running(
            change: {
                $0.node.renewEvery = .milliseconds(5)
                $0.node.restAfter = 2
            }
        ) { server in
            let ann = try await TestClient.welcomed(server, as: "ann", 1)
            try await ann.push(from: 1, Sample.profile(11))
            _ = try await ann.settled(through: 1)
            #expect(!server.node.feeds.all.isEmpty)
            await ann.leave()
            try await eventually { server.node.feeds.all.isEmpty }
            let again = try await TestClient.greeting(server, as: "ann", 1, isNew: false, counter: 2)
            _ = try await again.welcome()
            _ = try await again.changes()
            try await again.push(from: 2, Sample.profile(12))
            _ = try await again.settled(through: 2)
            let other = try await TestClient.welcomed(server, as: "bob", 2)
            try await again.push(from: 3, Sample.profile(13))
            #expect(try await other.changes().records.map(\.key.id) == [Sample.id(13)])
        }
    }
}

/// A hub that receives only empty batches.
private struct Rings {
    static let batchBytes = DeliveryBatch(batch(1), cursor: "").byteCount
    var hub: Hub

    init(bytesMax: Int) throws {
        let configuration = try ServerConfiguration(environment: [:], overrides: [.development: "1"])
        let context = SessionContext(
            serverName: "t", schema: try ServerConfiguration.sampleSchema(), limits: WireLimits(),
            seal: try #require(configuration.cursors))
        var limits = HubLimits()
        limits.ringBytesMax = bytesMax
        hub = Hub(context: context, limits: limits)
    }

    /// Commits the batch with one number, at that time.
    mutating func commit(_ seq: SequenceNumber, in workspace: WorkspaceID, forgets: Bool = false) {
        var effects: [SessionEffect] = []
        hub.apply(.follow(workspace, Head(seq: 0, nonce: 0, time: 0, epoch: 1)), now: seq, into: &effects)
        var batch = Self.batch(seq)
        batch.forgets = forgets
        hub.apply(.committed(workspace, DeliveryBatch(batch, cursor: "")), now: seq, into: &effects)
    }

    private static func batch(_ seq: SequenceNumber) -> CommittedBatch {
        CommittedBatch(low: seq, head: Head(seq: seq, nonce: 1, time: seq, epoch: 1))
    }
}
