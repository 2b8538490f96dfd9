import Foundation
import Testing
import TidemarkModel
import TidemarkWire

@testable import Tidemark

@Suite struct ActivityTests {
    private var status = SyncStatus(connection: .stopped, lastSync: nil)

    private mutating func on(_ change: (inout SyncStatus) -> Void) -> SyncActivity {
        change(&status)
        status.follow()
        return status.activity
    }

    private mutating func enter(_ phase: ConnectionState) -> SyncActivity { on { $0.connection = phase } }

    /// The progress of the current activity; `nil` without one.
    private var fraction: Double? {
        if case .syncing(let progress) = status.activity { progress.fraction } else { nil }
    }

    private static let away = SyncFailure(.unreachable, "no route")

    @Test mutating func `a first sync progresses from nothing to everything and is complete only then`() {
        #expect(enter(.connecting) != .upToDate)
        #expect(fraction == 0)
        var seen: [Double] = []
        let steps: [(ConnectionState, Int, Int, Int)] = [
            (.connecting, 280, 0, 0), (.catchingUp, 280, 0, 40), (.catchingUp, 280, 10, 40), (.catchingUp, 100, 10, 40),
            (.catchingUp, 100, 30, 60), (.live, 100, 60, 60), (.live, 1, 60, 60),
        ]
        for (phase, pending, done, total) in steps {
            _ = on {
                $0.connection = phase
                $0.pending = pending
                $0.filled = SyncProgress(done: done, total: total)
            }
            seen.append(fraction ?? 2)
        }
        #expect(seen == seen.sorted() && seen.allSatisfy { $0 < 1 } && seen.first == 0)
        #expect(on { $0.pending = 0 } == .upToDate)
    }

    @Test mutating func `with writes waiting nothing is completed, whatever the server asks`() {
        _ = enter(.live)
        #expect(on { $0.pending = 280 } != .upToDate)
        #expect(on { $0.pushPause = PushPause(reason: .rateLimited, until: 1) } != .upToDate)
        #expect(fraction == 0)
        #expect(on { $0.pending = 0 } == .upToDate)
        #expect(on { $0.unsentBlobs = 1 } != .upToDate)
        #expect(on { $0.unsentBlobs = 0 } == .upToDate)
    }

    @Test mutating func `more work during an activity does not turn progress back`() {
        _ = enter(.live)
        _ = on { $0.pending = 4 }
        _ = on { $0.pending = 1 }
        let before = fraction
        _ = on { $0.pending = 100 }
        #expect(fraction == before && before == 3 / 4)
        _ = on { $0.pending = 2 }
        #expect(fraction ?? 0 > before ?? 1)
    }

    @Test mutating func `received records are counted from the beginning of each activity`() {
        func records(_ activity: SyncActivity) -> Int? {
            if case .syncing(let progress) = activity { progress.records } else { nil }
        }
        _ = on { $0.received = 40 }
        #expect(records(enter(.connecting)) == 0)
        _ = enter(.catchingUp)
        #expect(records(on { $0.received = 240 }) == 200)
        #expect(records(on { $0.received = 440 }) == 400)
        #expect(enter(.live) == .upToDate)
        #expect(on { $0.received = 441 } == .upToDate)
        #expect(records(on { $0.pending = 1 }) == 0)
    }

    @Test mutating func `records that were there before are no progress`() {
        _ = enter(.connecting)
        _ = on { $0.filled = SyncProgress(done: 50, total: 50) }
        #expect(fraction == 0)
        _ = on { $0.filled = SyncProgress(done: 50, total: 51) }
        _ = enter(.catchingUp)
        _ = on { $0.filled = SyncProgress(done: 51, total: 51) }
        #expect(fraction == 0.5)
    }

    @Test mutating func `one arriving scope does not undo completion, and many do`() {
        _ = enter(.catchingUp)
        _ = on { $0.filled = SyncProgress(done: 8, total: 8) }
        #expect(enter(.live) == .upToDate)
        for scope in 1...20 {
            let before = scope * 8
            #expect(enter(.catchingUp) == .upToDate)
            for done in before...(before + 8) {
                #expect(on { $0.filled = SyncProgress(done: done, total: before + 8) } == .upToDate)
            }
            #expect(enter(.live) == .upToDate)
        }
        // Writes are sent, whatever arrives.
        _ = enter(.catchingUp)
        #expect(on { $0.pending = 1 } != .upToDate)
        #expect(on { $0.pending = 0 } == .upToDate)
        #expect(on { $0.filled = SyncProgress(done: 168, total: 200) } != .upToDate)
        #expect(fraction == 0)
        #expect(on { $0.filled = SyncProgress(done: 199, total: 200) } != .upToDate)
        #expect(enter(.live) == .upToDate)
        // Another connection receives anew.
        _ = enter(.connecting)
        #expect(enter(.catchingUp) != .upToDate)
    }

    @Test mutating func `an absent server is offline through every attempt until it answers`() {
        _ = enter(.connecting)
        for attempt in 1...3 {
            #expect(enter(.offline(until: Int64(attempt), reason: Self.away)) == .offline)
            #expect(enter(.connecting) == .offline, "attempt \(attempt)")
            #expect(status.failure?.code == .unreachable)
        }
        _ = enter(.catchingUp)
        #expect(fraction == 0 && status.failure == nil)
        #expect(enter(.live) == .upToDate)
        #expect(enter(.stopped) == .disconnected)
    }

    @Test mutating func `a failure that is not the network's is an error with a code, through every attempt`() {
        let failure = SyncFailure(.tokenFailed, "signed out")
        #expect(enter(.waiting(until: 1, reason: failure)) == .error(reason: failure))
        #expect(enter(.connecting) == .error(reason: failure))
        #expect(
            enter(.rejected(reason: SyncFailure(.forbidden, "no"))) == .error(reason: SyncFailure(.forbidden, "no")))
    }

    @Test mutating func `withheld writes are reported`() {
        _ = enter(.live)
        _ = on { $0.stalled = 3 }
        #expect(status.failure?.code == .writesStalled)
        #expect(status.activity == status.failure.map { .error(reason: $0) })
    }

    @Test mutating func `a copy that lacks scopes is not called complete`() {
        _ = enter(.live)
        #expect(on { $0.scopesLeftOut = 12 } == status.failure.map { .error(reason: $0) })
        #expect(status.failure?.code == .scopesLeftOut && status.failure?.detail.contains("12 scopes") == true)
        #expect(on { $0.pending = 1 } != .upToDate)
        _ = on { $0.pending = 0 }
        #expect(on { $0.scopesLeftOut = 0 } == .upToDate)
    }

    @Test func `every code has a stable name of its own`() {
        let names = SyncFailure.Code.allCases.map(\.rawValue)
        #expect(Set(names).count == names.count)
        #expect(names.allSatisfy { $0.allSatisfy { $0.isLowercase || $0 == "_" } })
        #expect(SyncFailure(.tlsFailed, "x").description == "tls_failed: x")
    }

    @Test(
        arguments: [
            (401, .unauthenticated), (403, .forbidden), (404, .notASyncServer), (301, .notASyncServer),
            (200, .notASyncServer),
            (429, .rateLimited), (502, .unavailable), (503, .unavailable), (408, .unavailable), (0, .notASyncServer),
        ] as [(Int, SyncFailure.Code)])
    func `an HTTP status instead of a connection has its code`(_ status: Int, _ code: SyncFailure.Code) {
        #expect(SyncFailure(httpStatus: status, "").code == code)
    }
}

/// The same with a whole store.
@Suite(.timeLimit(.minutes(5))) struct StoreActivityTests {
    private struct Unsigned: Error {}

    private struct FailingTransport: Transport {
        let error: any Error
        func connect(to url: String) async throws -> any TransportConnection { throw error }
    }

    @Test func `a token closure that throws is not a lost network`() async throws {
        let store = try SyncStore.test()
        try store.connect(to: "http://test", transport: ScriptedServer()) { throw Unsigned() }
        let status = try await store.syncNow()
        #expect(status.failure?.code == .tokenFailed)
        guard case .error = status.activity else {
            Issue.record("\(status.activity)")
            return
        }
        await store.disconnect()
        #expect(store.currentStatus.failure == nil)
    }

    @Test func `a transport's own error code is reported`() async throws {
        for failure in [SyncFailure(httpStatus: 404, "page"), SyncFailure(.tlsFailed, "self-signed")] {
            let store = try SyncStore.test()
            try store.connect(to: "http://test", transport: FailingTransport(error: failure)) { "t" }
            #expect(try await store.syncNow().activity == .error(reason: failure))
            await store.disconnect()
        }
        let store = try SyncStore.test()
        try store.connect(to: "http://test", transport: FailingTransport(error: Unsigned())) { "t" }
        #expect(try await store.syncNow().activity == .offline)
        await store.disconnect()
    }

    @Test func `a server that accepts tokens and closes at once is retried more and more slowly, and named`() {
        var bench = MachineBench()
        bench.on(.start)
        for _ in 0..<600 {
            if bench.machine.link == .opening {
                bench.connect()
                bench.settle(0)
                bench.on(.closed(code: CloseCode.unauthenticated.rawValue, reason: "the token expired"))
                guard case .waiting(_, let reason) = bench.phases.last, reason.code == .unauthenticated else {
                    Issue.record("\(bench.phases)")
                    return
                }
            }
            bench.pass(1_000)
        }
        #expect(bench.openings.count <= 70, "ten minutes, half a minute each in the end")
    }

    @Test func `between two pages nothing is reported as up to date`() {
        var bench = MachineBench()
        bench.unfilled = (1...6).map { number in
            PageRequest(id: 0, scope: ScopeID("s\(number)"), since: 1, collection: "rooms", before: nil, limit: 9)
        }
        bench.on(.start)
        bench.connect()
        bench.settle(0)
        while let request = bench.machine.pages.values.min(by: { $0.id < $1.id }) {
            #expect(bench.phases.last == .catchingUp)
            bench.receive(
                .page(
                    PageAnswer(
                        id: request.id, scope: request.scope, since: request.since, collection: request.collection,
                        changes: [], next: nil)))
        }
        #expect(bench.phases == [.connecting, .catchingUp, .live])
    }
}
