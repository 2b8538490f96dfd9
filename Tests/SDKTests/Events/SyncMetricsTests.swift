import Foundation
import Testing
import TidemarkModel

@testable import Tidemark

@Suite(.timeLimit(.minutes(5))) struct SyncMetricsTests {
    @Test func `rates are shares of finished work, and nothing before it`() {
        var metrics = SyncMetrics()
        #expect(metrics.successRate == nil && metrics.acceptanceRate == nil && metrics.cacheHitRate == nil)
        for _ in 1...3 {
            metrics.count(.started)
            metrics.count(.succeeded(duration: .milliseconds(40)))
        }
        metrics.count(.failed(reason: SyncFailure(.connectionLost, "cut"), retry: nil))
        metrics.count(.committed(transactions: 9, LoggedWrites()))
        metrics.count(.rejected(transaction: UUID(), rejection: Rejection(.forbidden, "no"), LoggedWrites()))
        metrics.count(.evicted(records: 7))
        metrics.count(.stalled(number: 1, reason: "no answer", LoggedWrites()))
        #expect(metrics.started == 3 && metrics.successRate == 0.75 && metrics.averageMilliseconds == 40)
        #expect(metrics.acceptanceRate == 0.9 && metrics.committed == 9)
        #expect(metrics.evicted == 7 && metrics.stalled == 1 && metrics.merged == 0)
    }

    @Test func `a store counts its rounds, its writes, and its requests to the server`() async throws {
        let server = ScriptedServer()
        let store = try SyncStore.test()
        let room = UUID()
        let notes = store.repository(Note.self)
        try await notes.create(Note(room: room, text: "a"))
        try await notes.create(Note(room: room, text: "b"))
        try store.connect(to: "http://test", transport: server) { "t" }
        _ = try await store.syncNow()
        #expect(store.metrics.succeeded == 1 && store.metrics.failed == 0 && store.metrics.committed == 2)
        server.set(away: true)
        for await status in store.status { if case .offline = status.connection { break } }
        #expect(store.metrics.failed >= 1 && store.metrics.successRate ?? 1 < 1)
        await store.disconnect()
        #expect(store.metrics.cacheHitRate == nil)
        try await notes.loadOlder(in: .of(UniqueID(room)))
        #expect(store.metrics.cacheHitRate == 1, "all there is is here")
    }

    @Test func `the cost of older records is separated from that of present ones`() async throws {
        var limits = LocalLimits()
        limits.cache.filling = .newest(1)
        let database = try LocalDatabase.inMemory(
            account: Bench.user, schema: try TestSchema.schema(), newClient: Bench.client, limits: limits)
        let bench = Bench(database: database)
        let room = RecordKey.room(1).scope
        try bench.join(room)
        try bench.page(room, "notes", .note(9, seq: 90), next: 90)
        let store = SyncStore(database: database, environment: .counting())
        let notes = store.repository(Note.self)
        #expect(try await notes.loadOlder(in: room, count: 1))
        try bench.page(room, "notes", .note(8, seq: 80), next: nil)
        #expect(try await !notes.loadOlder(in: room, count: 1))
        #expect(store.metrics.olderAsked == 2 && store.metrics.olderMissed == 1 && store.metrics.cacheHitRate == 0.5)
    }
}
