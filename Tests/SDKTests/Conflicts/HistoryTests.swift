import Foundation
import GRDB
import Testing
import TidemarkModel
import TidemarkWire

@testable import Tidemark

@Suite(.timeLimit(.minutes(5))) struct `OlderRecords of values` {
    private let store: SyncStore
    private let id = UUID(RecordKey.note(1).id)
    private var bench: Bench { Bench(database: store.database) }

    init() throws {
        store = try .test()
        let bench = Bench(database: store.database)
        try bench.join(RecordKey.room(1).scope)
        try bench.apply(.note(1, seq: 5, ["text": "a", "done": false]))
    }

    private func entry(
        _ seq: SequenceNumber, _ field: String = "text", old: FieldValue?, new: FieldValue?, time: Milliseconds = 5_000
    ) -> LedgerEntry {
        LedgerEntry(
            key: .note(1), scope: RecordKey.room(1).scope, seq: seq,
            value: OverwrittenValue(field: field, rule: .lww, old: old, new: new), oldAuthor: nil,
            author: UserID("bob"), client: .transaction(1), app: "demo 1", time: time)
    }

    private func answer(_ entries: LedgerEntry..., now: Milliseconds = 9_000) throws {
        try store.database.apply(
            HistoryAnswer(id: 1, scope: RecordKey.room(1).scope, key: .note(1), entries: entries, next: nil), now: now)
    }

    @Test func `a value of this device that was replaced before its write was settled is found`() async throws {
        try bench.write(1, .update(.note(1), [NamedPatch("text", .set("mine")), NamedPatch("done", .set(true))]))
        var notes: [SyncLogEvent] = []
        try store.database.apply(
            .make(
                from: "c1", to: "c2", [.note(1, seq: 105, born: 5, ["text": "theirs", "done": true])],
                settled: .accepted(1, 1)), now: 9_000
        ) { notes.append($0) }
        #expect(notes.contains(.conflict(ConflictNote(key: .note(1), fields: ["text"], outcome: .overwritten))))
        let found = try #require(try await store.history(of: id, in: "notes").first)
        #expect(found.old == "mine" && found.new == "theirs" && found.field == "text" && found.rule == .lww)
        #expect(found.oldAuthor == Bench.user && found.author == nil && found.seq == 105)
        try answer(entry(104, old: "mine", new: "between"), entry(105, old: "between", new: "theirs"))
        let explained = try await store.history(of: id, in: "notes")
        #expect(explained.map(\.old) == ["between", "mine"])
        #expect(explained.allSatisfy { $0.author == UserID("bob") && $0.app == "demo 1" })
    }

    @Test func `a present value, one that this device replaced, and one that a rule keeps are no loss`() async throws {
        try bench.write(
            1, .update(.note(1), [NamedPatch("text", .set("mine")), NamedPatch("likes", .increment(1))]))
        try bench.write(2, .set(.note(1), "text", "again"))
        try bench.write(3, .set(.note(1), "done", true))
        let settled = Settled.outcomes([(1, 1, nil), (2, 2, nil)])
        var notes: [SyncLogEvent] = []
        try store.database.apply(
            .make(
                from: "c1", to: "c2", [.note(1, seq: 110, born: 5, ["text": "again", "likes": 7, "done": false])],
                settled: settled), now: 9_000
        ) { notes.append($0) }
        #expect(!notes.contains { $0.name == "conflict" })
        #expect(try await store.history(of: id, in: "notes").isEmpty)
    }

    @Test func `a refused write of a manual field is listed by field, not by value`() throws {
        let bench = try Bench(`Conflicts of manual fields`.schema)
        try bench.join(RecordKey.room(1).scope)
        try bench.apply(.note(1, seq: 5, ["text": "a"]))
        try bench.write(1, .set(.note(1), "text", "mine"))
        var notes: [SyncLogEvent] = []
        try bench.database.apply(
            .make(from: "c1", to: "c2", [], settled: .contested(1, 1, .note(1), ["text"], isRefused: true)), now: 9_000
        ) { notes.append($0) }
        #expect(notes.contains(.conflict(ConflictNote(key: .note(1), fields: ["text"], outcome: .waiting))))
    }

    @Test func `restoring writes the old value, with the new one marked as seen`() async throws {
        try answer(entry(7, old: "lost", new: "a"), entry(6, "done", old: nil, new: false))
        let entries = try await store.history(of: id, in: "notes")
        #expect(entries.map(\.field) == ["text", "done"])
        for entry in entries { try await store.restore(entry) }
        #expect(try bench.fields(.note(1)) == Fields(dictionaryLiteral: ("text", "lost")).inRoom(1))
        let sent = try store.database.nextPush(after: 0, maxTransactions: 9, maxBytes: 9_999)
            .flatMap { try $0.entry.content.get().mutations }
        let text = try #require(store.schema.collection("notes")?.field("text"))
        #expect(sent.first?.action == .update([NamedPatch("text", .set("lost"), seen: ValueMark("a", of: text))]))
    }

    @Test func `old entries and those beyond the bound are deleted, and all of a lost scope`() async throws {
        let limits = store.database.limits
        let day: Milliseconds = 86_400_000
        try answer(entry(6, old: 1, new: 2, time: 1_000), entry(7, old: 2, new: 3, time: 2 * day), now: 31 * day)
        #expect(try await store.history(of: id, in: "notes").map(\.seq) == [7])
        try await store.database.writer.write { db in
            var few = limits
            few.historyEntriesMax = 2
            let history = HistoryTable(db: db)
            try history.save((8...10).map { entry($0, old: 1, new: 2, time: 3 * day + $0) })
            try history.trim(now: 4 * day, limits: few)
        }
        #expect(try await store.history(of: id, in: "notes").map(\.seq) == [10, 9])
        try bench.apply(
            from: "c1", to: "c2", grants: [.init(scope: RecordKey.room(1).scope, since: 9, role: nil)])
        #expect(try bench.count("tidemark_history") == 0)
        try answer(entry(11, old: 1, new: 2))
        #expect(try bench.count("tidemark_history") == 0, "an answer that comes late")
    }

    @Test func `a connected store asks the server until the history is complete`() async throws {
        let server = ScriptedServer()
        let store = try SyncStore.test()
        let bench = Bench(database: store.database)
        try bench.join(RecordKey.room(1).scope)
        try bench.apply(from: "c0", to: "c1", .note(1, seq: 5, ["text": "a"]))
        try store.connect(to: "http://test", transport: server) { "t" }
        _ = try await store.syncNow()
        for try await entries in store.observeHistory(of: id, in: "notes") where entries.count == 2 {
            #expect(entries.map(\.old) == ["old 9", "old 8"])
            #expect(entries.first?.device == UUID(UniqueID(high: 1, low: 2)))
            break
        }
        await store.disconnect()
        #expect(try await store.history(of: id, in: "notes").count == 2, "also offline")
    }

    @Test func `no history is requested of a record that is not in the copy`() throws {
        #expect(try store.database.historyRequest(.note(9)) == nil)
        #expect(try store.database.historyRequest(.note(1))?.scope == RecordKey.room(1).scope)
    }
}
