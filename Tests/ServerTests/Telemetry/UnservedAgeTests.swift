import NIOEmbedded
import Synchronization
import Testing
import TidemarkModel
import TidemarkStore

@testable import TidemarkAssembly
@testable import TidemarkHub
@testable import TidemarkNode

/// The age of what is committed and not served: it grows while nothing moves.
@Suite(.timeLimit(.minutes(5))) struct UnservedAgeTests {
    private static func batch(_ seq: SequenceNumber, at time: Milliseconds) -> DeliveryBatch {
        DeliveryBatch(CommittedBatch(low: seq, head: Head(seq: seq, nonce: 1, time: time, epoch: 1)), cursor: "c")
    }

    @Test
    func `a batch that a loop does not take over is remembered by the oldest one's time, and forgotten once it does`()
        throws
    {
        let loop = EmbeddedEventLoop()
        let inbox = HubInbox(eventLoop: loop, number: 0, bytesMax: 1)
        inbox.sockets.store(1, ordering: .relaxed)
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
        inbox.sockets.store(1, ordering: .relaxed)
        post(71...71)
        #expect(inbox.waiting == 0)
    }

    @Test func `where other nodes commit, the age grows while nobody can look for what they did`() async throws {
        let store = FaultyStore()
        let ahead = Mutex<Int64>(0)
        var surroundings = ServerAssembly.Surroundings()
        let now = surroundings.now
        surroundings.now = { now() + ahead.withLock { $0 } }
        try await TestServer.running(
            over: OpenedStore(store, isShared: true), environment: TestServer.operated, surroundings: surroundings,
            change: { $0.node.pollEvery = .milliseconds(5) }
        ) { server in
            _ = try await TestClient.welcomed(server, as: "ann", 1)
            store.faults.withLock { $0.isTailLost = true }
            ahead.withLock { $0 = 60_000 }
            let stuck = try await server.figures(until: "tidemark_unserved_age_seconds", reaches: 50)
            #expect((stuck["tidemark_tail_age_seconds"] ?? 0) >= 50)
            ahead.withLock { $0 = 120_000 }
            _ = try await server.figures(until: "tidemark_unserved_age_seconds", reaches: 110)
            store.faults.withLock { $0.isTailLost = false }
            while try await (Figures(of: server)["tidemark_unserved_age_seconds"] ?? .infinity) > 5 {}
        }
    }
}
