import Foundation
import Testing
import TidemarkModel
import TidemarkWire

@testable import Tidemark

/// Histories that are requested while no server can be asked.
@Suite(.timeLimit(.minutes(5))) struct WantedHistoryTests {
    private func asked(_ bench: MachineBench) -> [RecordKey] {
        bench.sent.compactMap { if case .history(let request) = $0 { request.key } else { nil } }
    }

    @Test func `a history wanted without a connection is requested with the next one, once`() {
        var bench = MachineBench()
        bench.on(.history(.note(1)))
        bench.on(.history(.note(2)))
        bench.on(.history(.note(1)))
        bench.on(.start)
        #expect(asked(bench).isEmpty)
        bench.connect()
        #expect(asked(bench) == [.note(1), .note(2)])
        bench.on(.closed(code: 1006, reason: "cut"))
        bench.pass(60_000)
        bench.connect()
        #expect(asked(bench) == [.note(1), .note(2), .note(1), .note(2)], "the answers were lost with the connection")
    }

    @Test func `requests beyond the allowed number are sent after the answers`() throws {
        var bench = MachineBench()
        bench.on(.start)
        bench.connect()
        let room = WireLimits().pagesInFlightMax
        for number in 1...UInt64(room + 3) { bench.on(.history(.note(number))) }
        #expect(asked(bench).count == room)
        let first = try #require(
            bench.sent.compactMap { if case .history(let request) = $0 { request } else { nil } }.first)
        bench.receive(
            .history(HistoryAnswer(id: first.id, scope: first.scope, key: first.key, entries: [], next: nil)))
        #expect(asked(bench).count == room + 1)
    }

    @Test func `a requested history ends with an answer, without a record, or if there are too many`() throws {
        var bench = MachineBench()
        bench.on(.start)
        bench.connect()
        bench.on(.history(.note(1)))
        let first = try #require(
            bench.sent.compactMap { if case .history(let request) = $0 { request } else { nil } }.last)
        bench.receive(.history(HistoryAnswer(id: first.id, scope: first.scope, key: first.key, entries: [], next: 5)))
        #expect(bench.endedHistories.isEmpty)
        let second = try #require(
            bench.sent.compactMap { if case .history(let request) = $0 { request } else { nil } }.last)
        #expect(second.before == 5)
        bench.receive(
            .history(HistoryAnswer(id: second.id, scope: first.scope, key: first.key, entries: [], next: nil)))
        #expect(bench.endedHistories == [.note(1)])
        bench.on(.historyLoaded(.note(2), nil))
        #expect(bench.endedHistories == [.note(1), .note(2)])
        for number in 1...WireLimits().pagesInFlightMax + 200 { bench.on(.history(.note(UInt64(number)))) }
        #expect(bench.endedHistories.count > 100)
    }

    @Test func `a history is complete at the first answer of a device that is connected`() async throws {
        let store = try SyncStore.test()
        let note = Note(room: UUID(), text: "a")
        try await store.repository(Note.self).create(note)
        try Bench(database: store.database).join(ScopeID(record: UniqueID(note.room)))
        // Without a connection there is no wait.
        #expect(try await store.history(of: note.id, in: "notes") == [])
        try store.connect(to: "http://test", transport: ScriptedServer()) { "t" }
        _ = await store.status.first { $0.connection == .live || $0.connection == .catchingUp }
        #expect(try await store.history(of: note.id, in: "notes").map(\.seq) == [9, 8])
        // A record that is not in the copy causes no wait.
        #expect(try await store.history(of: UUID(), in: "notes") == [])
        await store.disconnect()
        #expect(try await store.history(of: note.id, in: "notes").map(\.seq) == [9, 8])
    }

    @Test func `of too many the first are kept`() {
        var bench = MachineBench()
        for number in 1...WireLimits().pagesInFlightMax + 200 { bench.on(.history(.note(UInt64(number)))) }
        #expect(bench.machine.wantedHistories == (1...64).map { .note($0) })
    }

    @Test func `a history requested before the app connects arrives afterwards`() async throws {
        let store = try SyncStore.test()
        let note = Note(room: UUID(), text: "a")
        try await store.repository(Note.self).create(note)
        let bench = Bench(database: store.database)
        try bench.join(ScopeID(record: UniqueID(note.room)))
        var values = store.observeHistory(of: note.id, in: "notes").makeAsyncIterator()
        #expect(try await values.next() == [])
        try store.connect(to: "http://test", transport: ScriptedServer()) { "t" }
        var seen: [HistoryEntry] = []
        while seen.count < 2, let next = try await values.next() { seen = next }
        #expect(seen.map(\.seq) == [9, 8])
        await store.disconnect()
    }
}
