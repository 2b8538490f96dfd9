import Foundation
import Testing
import TidemarkModel

@testable import Tidemark

@Suite(.timeLimit(.minutes(5))) @MainActor struct StatusLineTests {
    private static let live = SyncStatus(connection: .live, lastSync: nil)

    private func words(_ change: (inout SyncStatus) -> Void) -> String? {
        var status = Self.live
        status.follow()
        change(&status)
        status.follow()
        return StatusLine.words(status, status.activity)
    }

    @Test func `a completed sync is idle two seconds later, and completed again after the next work`() async throws {
        let clock = HandClock()
        var environment = StoreEnvironment.counting()
        environment.clock = clock
        environment.networkPaths = { AsyncStream { $0.finish() } }
        let store = try SyncStore.inMemory(
            account: Bench.user, schema: try TestSchema.schema(), environment: environment)
        let line = StatusLine(store)
        let running = Task { await line.run() }
        #expect(line.activity == nil && line.text == nil)
        try store.connect(to: "http://test", transport: ScriptedServer()) { "t" }
        await Watching.wait { line.activity == .upToDate }
        #expect(line.text == "Up to date")
        while line.activity == .upToDate, !Task.isCancelled {
            // Slowly: the engine's alarms sleep on the same clock.
            clock.advance(by: .milliseconds(50))
            for _ in 0..<100 { await Task.yield() }
        }
        #expect(line.activity == nil && line.text == nil)
        #expect(store.currentStatus.activity == .upToDate)
        store.pause()
        try await store.repository(Note.self).create(Note(room: UUID(), text: "a"))
        await Watching.wait { line.waiting == 1 && line.text == "1 queued" }
        store.resume()
        await Watching.wait { line.waiting == 0 && line.activity == .upToDate }
        running.cancel()
        await store.disconnect()
    }

    @Test func `sent writes are distinguished from queued ones`() {
        #expect(words { $0.pending = 3 } == "Sending 3")
        #expect(words { ($0.connection, $0.pending) = (.stopped, 3) } == "3 queued")
        let away = SyncFailure(.unreachable, "no route")
        #expect(words { ($0.connection, $0.pending) = (.offline(until: 1, reason: away), 3) } == "Offline, 3 queued")
        #expect(words { $0.connection = .offline(until: 1, reason: away) } == "Offline")
        var status = Self.live
        status.pending = 1
        #expect(status.isSending)
        status.connection = .connecting
        #expect(!status.isSending)
    }

    @Test func `a limit of the server is described, with its end`() {
        let limited = words { status in
            status.pending = 2
            status.pushPause = PushPause(reason: .rateLimited, until: 1_000)
        }
        let until = Date(timeIntervalSince1970: 1).formatted(date: .omitted, time: .standard)
        #expect(limited == "Too much was sent: 2 queued until \(until)")
        let busy = words { status in
            status.pending = 2
            status.pushPause = PushPause(reason: .overloaded, until: 1_000)
        }
        #expect(busy == "The server is busy: 2 queued until \(until)")
        let refused = words { $0.connection = .waiting(until: 1, reason: SyncFailure(.rateLimited, "429")) }
        #expect(refused == "Too many connections: waiting for the server")
    }

    @Test func `a failure is described, with the unsent writes beside it`() {
        #expect(words { $0.isDiskFull = true } == "No room on this device")
        #expect(words { $0.stalled = 2 } == "2 got no answer")
        #expect(words { $0.scopesLeftOut = 2 } == "Not everything is on this device")
        let unsigned = SyncFailure(.unauthenticated, "no")
        #expect(words { ($0.connection, $0.pending) = (.rejected(reason: unsigned), 1) } == "Sign in again, 1 queued")
        #expect(words { $0.unsentBlobs = 2 } == "Sending 2 files")
        #expect(words { ($0.unsentBlobs, $0.isHoldingBlobs) = (2, true) } == "2 files wait for another network")
    }
}
