import Foundation
import Testing
import TidemarkModel
import TidemarkWire

@testable import Tidemark

/// A copy that refuses the server's frames again and again: the app and the server are informed.
@Suite(.timeLimit(.minutes(5))) struct StuckTests {
    private let failure = SyncFailure(.databaseFailed, "the frame continues a, not b")

    private var hellos: (MachineBench) -> [Hello] {
        { bench in bench.sent.compactMap { if case .hello(let hello) = $0 { hello } else { nil } } }
    }

    @Test func `three refusals in a row are a failure of their own, which the next hello reports`() {
        var bench = MachineBench()
        bench.on(.start)
        for attempt in Int64(1)...5 {
            bench.connect()
            #expect(hellos(bench).last?.stuck == (attempt > 3 ? attempt - 1 : nil))
            bench.on(.applyFailed(failure))
            #expect(bench.failures.last == (attempt < 3 ? .databaseFailed : .cannotApply))
            bench.pass(60_000)
        }
        let reasons = bench.phases.compactMap { if case .waiting(_, let reason) = $0 { reason.detail } else { nil } }
        #expect(reasons.last?.contains("5 connections in a row: the frame continues a, not b") == true)
    }

    @Test func `a copy that has applied everything once is not stuck any more`() {
        var bench = MachineBench()
        bench.on(.start)
        for _ in 0..<4 {
            bench.connect()
            bench.on(.applyFailed(failure))
            bench.pass(60_000)
        }
        bench.connect()
        #expect(hellos(bench).last?.stuck == 4)
        bench.settle(0)
        #expect(bench.phases.last == .live)
        bench.on(.closed(code: 1006, reason: "cut"))
        bench.pass(60_000)
        bench.connect()
        #expect(hellos(bench).last?.stuck == nil)
    }

    @Test func `a lost network between two refusals changes nothing, and a full disk is no refusal`() {
        var bench = MachineBench()
        bench.on(.start)
        for _ in 0..<3 {
            bench.connect()
            bench.on(.applyFailed(failure))
            bench.pass(60_000)
            bench.on(.openFailed(SyncFailure(.unreachable, "no")))
            bench.pass(60_000)
            bench.connect()
            bench.on(.applyFailed(SyncFailure(.diskFull, "no room")))
            bench.pass(60_000)
        }
        #expect(bench.failures.contains(.cannotApply))
        bench.connect()
        #expect(hellos(bench).last?.stuck == 3)
    }

    @Test func `a store whose copy refuses each frame reports it`() async throws {
        let server = ScriptedServer()
        let store = try SyncStore.inMemory(
            account: Bench.user, schema: try TestSchema.schema(), environment: StoreEnvironment.counting())
        server.spoil(true)
        try store.connect(to: "http://test", transport: server) { "t" }
        var rounds = 0
        while store.currentStatus.failure?.code != .cannotApply, rounds < 100 {
            rounds += 1
            _ = try await store.syncNow()
        }
        guard case .error(let reason) = store.currentStatus.activity else {
            Issue.record("\(store.currentStatus.activity)")
            return
        }
        #expect(reason.detail.contains("the frame continues nowhere"))
        server.spoil(false)
        while store.currentStatus.connection != .live, rounds < 100 {
            rounds += 1
            _ = try await store.syncNow()
        }
        #expect(store.currentStatus.connection == .live)
        await store.disconnect()
    }
}
