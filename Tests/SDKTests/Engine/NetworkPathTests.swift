import Foundation
import Testing
import TidemarkLock
import TidemarkModel
import TidemarkWire

@testable import Tidemark

/// The system's reports on the network, and an engine's reaction.
@Suite(.timeLimit(.minutes(5))) struct NetworkPathTests {
    private static func path(_ isReachable: Bool, _ interfaces: String...) -> NetworkPath {
        NetworkPath(isReachable: isReachable, interfaces: interfaces)
    }

    @Test func `in a sequence of paths only losses, returns and other routes are changes`() {
        var changes = NetworkChanges()
        let paths = [
            Self.path(true, "en0"), Self.path(true, "en0"), Self.path(true, "pdp_ip0"), Self.path(false),
            Self.path(false, "en0"), Self.path(true, "en0"), Self.path(true, "en0"),
        ]
        let found = paths.map { changes.next($0) }
        #expect(found == [nil, nil, .changed, .lost, nil, .regained, nil])
        var dark = NetworkChanges()
        let first = dark.next(Self.path(false))
        #expect(first == .lost, "a device that is started without a network")
    }

    /// A machine in each of its phases, at most half a second into it.
    private static let phases = ["waiting", "opening", "greeting", "catching up", "live"]

    private func bench(_ phase: String) -> MachineBench {
        var bench = MachineBench()
        bench.on(.start)
        switch phase {
        case "waiting":
            bench.on(.openFailed(SyncFailure(.unreachable, "no")))
            // An outage of an hour: the next attempt is far.
            for _ in 0..<120 {
                bench.pass(30_000)
                bench.on(.openFailed(SyncFailure(.unreachable, "no")))
            }
            bench.pass(500)
        case "opening": bench.pass(500)
        case "greeting": bench.on(.opened(token: "t", start: MachineBench.start))
        case "catching up": bench.connect()
        default:
            bench.connect()
            bench.settle(0)
        }
        return bench
    }

    @Test(arguments: phases) func `a lost network is shown at once, in every phase`(_ phase: String) {
        var bench = bench(phase)
        bench.on(.network(.lost))
        guard case .offline(_, let reason)? = bench.phases.last else {
            Issue.record("\(bench.phases.suffix(2))")
            return
        }
        #expect(reason.code == .unreachable && reason.isOffline)
        #expect(!bench.machine.isStreaming)
        // The system may be wrong: the engine tries all the same.
        let attempts = bench.openings.count
        bench.pass(30_000)
        #expect(bench.openings.count > attempts)
    }

    @Test(arguments: phases) func `a regained network is used within a second, in every phase`(_ phase: String) {
        for isToldOfLoss in [true, false] {
            var bench = bench(phase)
            if isToldOfLoss {
                bench.on(.network(.lost))
                bench.pass(5_000)
            }
            let attempts = bench.openings.count
            let now = bench.now
            bench.on(.network(.regained))
            bench.pass(500)
            #expect(bench.openings.count > attempts, "told of the loss: \(isToldOfLoss)")
            #expect(bench.openings.last.map { $0 - now <= 500 } == true)
            // An attempt from before has ended, and no longer hangs.
            bench.connect()
            bench.settle(0)
            #expect(bench.phases.last == .live)
        }
    }

    @Test func `a network that the system loses and finds all the time causes two attempts a second`() {
        var bench = MachineBench()
        bench.on(.start)
        for _ in 0..<600 {
            bench.on(.network(.lost))
            bench.pass(50)
            bench.on(.network(.regained))
            bench.pass(50)
        }
        #expect(bench.openings.count <= 121)
        for (one, next) in zip(bench.openings, bench.openings.dropFirst()) { #expect(next - one >= 500) }
    }

    @Test func `a wait that the server asked for lasts when the network returns`() {
        var bench = MachineBench()
        bench.on(.start)
        bench.connect()
        bench.receive(.goAway(GoAway(after: 20_000, reason: "drain")))
        bench.on(.closed(code: 1001, reason: "drain"))
        bench.on(.network(.lost))
        bench.on(.network(.regained))
        let attempts = bench.openings.count
        bench.pass(19_000)
        #expect(bench.openings.count == attempts)
        bench.pass(2_000)
        #expect(bench.openings.count == attempts + 1)
    }

    @Test func `an app that is too old stays so without a network, and a refused user stays refused`() {
        var bench = MachineBench()
        bench.on(.start)
        bench.connect()
        bench.on(.closed(code: CloseCode.appTooOld.rawValue, reason: "2.4: update"))
        bench.on(.network(.lost))
        guard case .waiting(_, let reason)? = bench.phases.last else {
            Issue.record("\(bench.phases)")
            return
        }
        #expect(reason.minimumApp == "2.4")
        bench.on(.stop)
        bench.on(.network(.lost))
        bench.on(.network(.regained))
        #expect(bench.phases.last == .stopped)
    }

    @Test func `on another route an open connection must show that it lives`() {
        var bench = MachineBench()
        bench.on(.start)
        bench.connect()
        bench.pass(5_000)
        bench.isAlive = false
        let said = bench.sent.count
        bench.on(.network(.changed))
        #expect(bench.sent.count == said + 1)
        for _ in 0..<20 { bench.pass(1_000) }
        #expect(bench.openings.count == 2)
    }

    /// The system's reports through the store's own engine.
    @Test func `a store receives the system's reports on the network`() async throws {
        let clock = HandClock()
        let (paths, system) = AsyncStream.makeStream(of: NetworkPath.self)
        let server = ScriptedServer()
        var environment = StoreEnvironment.counting()
        environment.clock = clock
        environment.networkPaths = { paths }
        let store = try SyncStore.inMemory(
            account: Bench.user, schema: try TestSchema.schema(), environment: environment)
        system.yield(Self.path(true, "en0"))
        try store.connect(to: "http://test", transport: server) { "t" }
        for await status in store.status where status.connection == .live { break }
        system.yield(Self.path(false))
        // The clock does not move.
        for await status in store.status where status.activity == .offline { break }
        try await eventually { server.openConnections == 0 }
        clock.advance(by: .milliseconds(500))
        system.yield(Self.path(true, "en0"))
        for await status in store.status where status.connection == .live { break }
        #expect(server.connections == 2)
        await store.disconnect()
    }
}
