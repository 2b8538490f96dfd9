import Testing
import TidemarkLock
import TidemarkModel
import TidemarkNode
import TidemarkStore
import TidemarkWire

@testable import TidemarkAssembly

@Suite(.timeLimit(.minutes(5))) struct DrainTests {
    @Test func `a stop notifies every client and settles accepted writes`() async throws {
        let store = FaultyStore()
        try await TestServer.running(over: OpenedStore(store)) { server in
            let ann = try await TestClient.welcomed(server, as: "ann", 1)
            let idle = try await TestClient.welcomed(server, as: "bob", 2)
            store.faults.withLock { $0.isHeld = true }
            try await ann.push(from: 1, Sample.profile(10))
            await store.tried(1)
            await server.stop()
            guard case .goAway = try await ann.next(), case .goAway = try await idle.next() else {
                Issue.record("no goaway")
                return
            }
            #expect(try await idle.closeCode() == 1001)
            #expect(server.node.isDraining)
            try await ann.push(from: 2, Sample.profile(11))
            #expect(try await ann.error().code == .draining)
            store.release()
            let frame = try await ann.changes(acknowledging: false)
            #expect(frame.settled?.through == 1)
            #expect(try await ann.closeCode() == 1001)
        }
        let tables = store.inner.snapshot
        let kept = tables.session(for: UserID("ann"), client: Sample.id(1), in: WorkspaceID("w"))
        #expect(kept.client?.settledThrough == 1)
    }
}
