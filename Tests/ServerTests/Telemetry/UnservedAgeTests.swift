import Crypto
import Logging
import NIOCore
import NIOEmbedded
import Testing
import TidemarkLock
import TidemarkModel
import TidemarkSequencer
import TidemarkStore
import TidemarkWire

@testable import TidemarkAssembly
@testable import TidemarkHub
@testable import TidemarkNode

/// The age of batches that are committed and not served: it grows while nothing moves.
@Suite(.timeLimit(.minutes(5))) struct UnservedAgeTests {
    private static func batch(_ seq: SequenceNumber, at time: Milliseconds) -> DeliveryBatch {
        DeliveryBatch(CommittedBatch(low: seq, head: Head(seq: seq, nonce: 1, time: time, epoch: 1)), cursor: "c")
    }

    @Test
    func `a batch that a loop does not accept is remembered by the oldest one's time, and forgotten once it does`()
        throws
    {
        let loop = EmbeddedEventLoop()
        let inbox = HubInbox(eventLoop: loop, number: 0, bytesMax: 1)
        inbox.sockets.set(1)
        let workspace = WorkspaceID("w")
        inbox.post(.tick)
        #expect(inbox.oldest == nil, "what is no batch keeps nobody waiting")
        inbox.post(.committed(workspace, Self.batch(1, at: 1_000)))
        inbox.post(.committed(workspace, Self.batch(2, at: 2_000)))
        inbox.post(.committed(workspace, Self.batch(3, at: 3_000)))
        #expect(inbox.oldest == 1_000)
        loop.run()
        #expect(inbox.oldest == nil)
        inbox.post(.committed(workspace, Self.batch(4, at: 4_000)))
        #expect(inbox.oldest == 4_000)
    }

    @Test func `a loop without sockets is woken by the sixty-fourth batch, and by anything else`() {
        let loop = EmbeddedEventLoop()
        let inbox = HubInbox(eventLoop: loop, number: 0, bytesMax: 1 << 20)
        func post(_ numbers: ClosedRange<Int64>) {
            for number in numbers { inbox.post(.committed(WorkspaceID("w"), Self.batch(number, at: 1_000))) }
            loop.run()
        }
        post(1...63)
        #expect(inbox.waiting == 63 && inbox.oldest == nil, "nobody waits for them")
        post(64...64)
        #expect(inbox.waiting == 0)
        post(65...70)
        inbox.post(.tick)
        loop.run()
        #expect(inbox.waiting == 0)
        inbox.sockets.set(1)
        post(71...71)
        #expect(inbox.waiting == 0)
    }

    @Test func `the unserved age is that of the oldest batch of the loop that lags most`() throws {
        let loops = (0..<3).map { _ in EmbeddedEventLoop() }
        let node = try Self.node(on: loops, now: 10_000)
        for (loop, time) in zip(loops, [7_000, 2_000, 9_000] as [Milliseconds]) {
            let inbox = try #require(node.inboxes[ObjectIdentifier(loop)])
            inbox.sockets.set(1)
            inbox.post(.committed(WorkspaceID("w"), Self.batch(1, at: time)))
        }
        #expect(node.figures.unservedAge == 8_000)
        for loop in loops { loop.run() }
        #expect(node.figures.unservedAge == 0)
        for inbox in node.inboxes.values { inbox.executor.value?.stop() }
    }

    private static func node(on loops: [EmbeddedEventLoop], now: Milliseconds) throws -> Node {
        let context = SessionContext(
            serverName: "n", schema: try ServerConfiguration.sampleSchema(), limits: WireLimits(),
            seal: CursorSeal(key: SymmetricKey(data: [UInt8](repeating: 7, count: 32))))
        let store = InMemoryStore()
        return Node(
            Node.Parts(
                store: store, operating: store, blobs: InMemoryBlobStore(), schemas: InMemorySchemaStore(),
                isStoreShared: false, verify: { _, _ in .unavailable }, context: context,
                environment: .init(
                    now: { now }, nonce: { 1 }, clock: ContinuousClock(),
                    logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }), id: 1, eventLoops: loops))
    }

    @Test func `with other nodes, the age grows while their batches cannot be read`() async throws {
        let (store, clock) = (FaultyStore(), MovedClock())
        try await Self.running(over: store, clock) { server in
            _ = try await TestClient.welcomed(server, as: "ann", 1)
            store.faults.withLock { $0.lostTails = [WorkspaceID("w")] }
            clock.move(to: 60_000)
            let stuck = try await server.figures(until: "tidemark_unserved_age_seconds", reaches: 50)
            #expect((stuck["tidemark_tail_age_seconds"] ?? 0) >= 50)
            clock.move(to: 120_000)
            _ = try await server.figures(until: "tidemark_unserved_age_seconds", reaches: 110)
            store.faults.withLock { $0.lostTails = [] }
            try await eventually("nothing is unserved") {
                try await (Figures(of: server)["tidemark_unserved_age_seconds"] ?? .infinity) <= 5
            }
        }
    }

    /// The age is that of the workspace that was last read longest ago.
    @Test(arguments: ["w", "v"])
    func `the tail is as old as that of the workspace that was not looked at for longest`(_ lost: String) async throws {
        let (store, clock) = (FaultyStore(), MovedClock())
        try await Self.running(over: store, clock) { server in
            _ = try await TestClient.welcomed(server, as: "ann", 1)
            _ = try await TestClient.welcomed(server, as: "ann", 2, workspace: "v")
            store.faults.withLock { $0.lostTails = [WorkspaceID(lost)] }
            clock.move(to: 60_000)
            // The other one is read on.
            let other = WorkspaceID(lost == "w" ? "v" : "w")
            let feed = try #require(server.node.feeds[other])
            let before = server.node.now()
            try await eventually("the other workspace was looked at") { feed.confirmed ?? 0 >= before }
            _ = try await server.figures(until: "tidemark_tail_age_seconds", reaches: 50)
            #expect(server.node.isTailStale)
        }
    }

    private static func running(
        over store: FaultyStore, _ clock: MovedClock, _ body: @Sendable (TestServer) async throws -> Void
    ) async throws {
        var surroundings = ServerAssembly.Surroundings()
        let now = surroundings.now
        surroundings.now = { now() + clock.ahead }
        try await TestServer.running(
            over: OpenedStore(store, isShared: true), environment: TestServer.operated, surroundings: surroundings,
            change: { $0.node.pollEvery = .milliseconds(5) }, body)
    }
}

/// The lead of a test's clock, in milliseconds.
private final class MovedClock: Sendable {
    private let state = Lock<Int64>(0)

    var ahead: Int64 { state.withLock { $0 } }

    func move(to ahead: Int64) { state.withLock { $0 = ahead } }
}
