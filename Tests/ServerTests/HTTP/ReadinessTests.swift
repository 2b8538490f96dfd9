import Testing
import TidemarkLock
import TidemarkModel
import TidemarkNIOTransport
import TidemarkNode
import TidemarkSequencer
import TidemarkStore
import TidemarkWire

@testable import TidemarkAssembly

/// `/readyz` reports whether this server can serve now, not only whether it runs.
@Suite(.timeLimit(.minutes(5))) struct ReadinessTests {
    /// Repeats the request until the answer has this status.
    private func readiness(of server: TestServer, until status: Int) async throws -> String {
        while true {
            try Task.checkCancellation()
            let answer = try await server.call("GET", "/readyz")
            if answer.status == status { return answer.text }
        }
    }

    @Test(arguments: StoreError.Fault.allCases)
    func `a server whose commits fail is not ready from the first failure until one succeeds`(
        _ fault: StoreError.Fault
    ) async throws {
        let store = FaultyStore()
        try await TestServer.running(
            over: OpenedStore(store), change: { $0.node.pollEvery = .seconds(3_600) }
        ) { server in
            let ann = try await TestClient.welcomed(server, as: "ann", 1)
            #expect(try await server.call("GET", "/readyz").status == 200)
            store.faults.withLock { $0.fault = fault }
            try await ann.push(from: 1, Sample.profile(11))
            #expect(try await readiness(of: server, until: 503).contains(#""code":"\#(fault.rawValue)""#))
            #expect(store.faults.withLock { $0.tried.count } < 12, "before the lane gives up")
            store.faults.withLock { $0.fault = nil }
            _ = try await ann.settled(through: 1)
            #expect(try await server.call("GET", "/readyz").status == 200)
        }
    }

    @Test func `a server that gets no more clients is ready again once the store can be written`() async throws {
        let store = FaultyStore()
        try await TestServer.running(
            over: OpenedStore(store),
            change: {
                $0.node.pollEvery = .milliseconds(5)
                $0.lane.attemptsMax = 1
            }
        ) { server in
            let ann = try await TestClient.welcomed(server, as: "ann", 1)
            store.faults.withLock { $0.fault = .full }
            try await ann.push(from: 1, Sample.profile(11))
            #expect(try await ann.error().code == .unavailable)
            #expect(try await server.call("GET", "/readyz").status == 503)
            let tried = store.faults.withLock { faults in
                faults.fault = nil
                return faults.tried.count
            }
            _ = try await readiness(of: server, until: 200)
            #expect(store.faults.withLock { $0.tried.count } == tried, "no commit was needed")
        }
    }

    @Test func `a server that cannot see other servers' commits is not ready`() async throws {
        let store = FaultyStore()
        try await TestServer.running(
            over: OpenedStore(store, isShared: true),
            change: {
                $0.node.pollEvery = .milliseconds(5)
                $0.node.tailAgeMax = .milliseconds(500)
            }
        ) { server in
            let ann = try await TestClient.welcomed(server, as: "ann", 1)
            #expect(try await readiness(of: server, until: 200) == #"{"ok":true}"#)
            store.faults.withLock { $0.lostTails = [WorkspaceID("w")] }
            #expect(try await readiness(of: server, until: 503).contains(#""code":"tail_stale""#))
            store.faults.withLock { $0.lostTails = [] }
            _ = try await readiness(of: server, until: 200)
            await ann.leave()
        }
    }
}
