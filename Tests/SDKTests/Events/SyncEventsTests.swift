import Foundation
import Logging
import Testing
import TidemarkModel

@testable import Tidemark

/// The events of a store as an app and its logger receive them.
@Suite(.timeLimit(.minutes(5))) struct SyncEventsTests {
    @Test func `an app receives the start, the success with its duration, its writes, and the failure`() async throws {
        let server = ScriptedServer()
        let store = try SyncStore.test()
        var events = store.events.makeAsyncIterator()
        try await store.repository(Note.self).create(Note(room: UUID(), text: "a"))
        try store.connect(to: "http://test", transport: server) { "t" }
        #expect(await events.next() == .started)
        var names: [String] = []
        while names.count < 2, let event = await events.next() { names.append(event.name) }
        #expect(Set(names) == ["succeeded", "committed"])
        server.set(away: true)
        guard case .failed(_, let retry)? = await events.next() else {
            Issue.record("no failure")
            return
        }
        #expect(retry != nil)
        await store.disconnect()
        while let event = await events.next(), event != .stopped {}
    }

    @Test func `a listener ends with its task, and others continue`() async {
        let journal = SyncJournal(logger: .silent)
        var other = journal.values().makeAsyncIterator()
        let task = Task { for await _ in journal.values() {} }
        task.cancel()
        await task.value
        journal.note(.forked)
        #expect(await other.next() == .forked)
    }

    @Test func `a slow listener gets the newest events`() async {
        let journal = SyncJournal(logger: .silent)
        var values = journal.values().makeAsyncIterator()
        for number in 1...(SyncJournal.bufferMax + 40) { journal.note(.evicted(records: number)) }
        #expect(await values.next() == .evicted(records: 41))
    }

    @Test func `each event is a log entry with a constant sentence and its details as metadata`() {
        let log = LogCapture()
        let journal = SyncJournal(logger: Logger(label: "test") { _ in log })
        let id = UUID(UniqueID(high: 1, low: 2))
        journal.note(.succeeded(duration: .milliseconds(1_234)))
        journal.note(
            .rejected(transaction: id, rejection: Rejection(.quota, "full"), LoggedWrites([.room(1), .note(2)])))
        journal.note(.corrupted(reason: "malformed"))
        journal.note(
            .merged(MergeDecision(collection: "notes", record: id, fields: ["a", "b"], resolution: .bothKept)))
        #expect(
            log.lines == [
                "info sync succeeded duration_ms=1234.0 event=succeeded",
                "info a write was refused code=quota event=parked reason=full "
                    + "transaction=00000000-0000-0001-0000-000000000002 writes=notes create 1, rooms create 1",
                "error the local database is damaged event=corrupted reason=malformed",
                "info concurrent changes were merged collection=notes event=merged fields=a,b "
                    + "record=00000000-0000-0001-0000-000000000002 resolution=both_kept",
            ])
    }

    @Test func `events of writes name the kinds of records and the operations`() throws {
        let bench = try Bench()
        try bench.join(RecordKey.room(1).scope)
        try bench.write(1, .note(1, ["text": "a"]), .note(2), .set(.note(1), "text", "b"))
        try bench.write(2, .delete(.note(2)))
        try bench.write(3, .set(.note(1), "text", "c"))
        var events: [SyncLogEvent] = []
        try bench.database.apply(
            .make(from: "c0", to: "c1", [], settled: .outcomes([(1, 1, nil), (2, 2, nil), (3, 3, .quota)])), now: 9_000
        ) { events.append($0) }
        #expect(events.map(\.name) == ["parked", "committed"])
        #expect(
            events.map { $0.details["writes"] } == ["notes update 1", "notes create 2, notes update 1, notes delete 1"])
    }

    @Test func `a store logs to the logger that it was opened with`() async throws {
        let log = LogCapture()
        let store = try SyncStore.inMemory(
            account: Bench.user, schema: try TestSchema.schema(), environment: .counting(),
            logger: Logger(label: "test") { _ in log })
        try store.connect(to: "http://test", transport: ScriptedServer()) { "t" }
        _ = try await store.syncNow()
        await store.disconnect()
        #expect(log.lines.map { $0.hasPrefix("info sync started") }.contains(true))
        #expect(log.lines.contains { $0.hasPrefix("info sync succeeded duration_ms=") })
    }
}
