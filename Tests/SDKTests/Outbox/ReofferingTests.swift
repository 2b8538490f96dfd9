import GRDB
import Testing
import TidemarkModel
import TidemarkWire

@testable import Tidemark

/// The server's database went back to before its answers: the device offers its writes again.
@Suite struct ReofferingTests {
    private let bench: Bench
    private let room = RecordKey.room(1).scope

    /// Writes to another user's note: text and likes were changed and settled; then it was liked again, which is not.
    init() throws {
        bench = try Bench()
        try bench.join(room)
        try bench.page(room, "rooms", .room(1, seq: 1))
        try bench.page(room, "notes", .note(9, seq: 3, ["likes": 1, "text": "a"]))
        try bench.write(1, .set(.note(9), "text", "b"))
        try bench.write(2, .update(.note(9), [NamedPatch("likes", .increment(10))]))
        try bench.write(3, .note(1, ["text": "new"]))
        _ = try bench.database.nextPush(after: 0, maxTransactions: 9, maxBytes: 9_999)
        try bench.apply(
            .note(9, seq: 102, born: 3, ["likes": 11, "text": "b"]),
            .note(1, seq: 103, author: "ann", ["text": "new"]),
            settled: .outcomes([(1, 1, nil), (2, 2, nil), (3, 3, nil)]))
        try bench.write(4, .update(.note(9), [NamedPatch("likes", .increment(100))]))
    }

    /// - Parameter end: a common past cursor; without one everything is filled again.
    private func goBack(
        to settled: Int64, lost: SequenceNumber? = nil, purged: [ScopeID] = [], end: String? = nil
    ) throws -> [SyncLogEvent] {
        var welcome = Welcome.make(state: .resync, cursor: "d0", settledThrough: settled)
        welcome.epoch = 2
        welcome.lost = lost
        if let end, let lost {
            welcome.cursorState = .rewound
            welcome.rewind = .init(to: lost - 1, end: end)
        }
        welcome.purged = purged.isEmpty ? [room] : purged
        if purged.isEmpty { welcome.added = [.init(scope: room, since: 1, role: .member)] }
        var events: [SyncLogEvent] = []
        try bench.database.welcomed(welcome) { events.append($0) }
        return events
    }

    private func sent(after number: Int64) throws -> [NumberedEntry] {
        try bench.database.nextPush(after: number, maxTransactions: 9, maxBytes: 9_999)
    }

    @Test func `lost transactions are sent under their numbers and ids, before waiting ones`() throws {
        let events = try goBack(to: 1, lost: 102)
        #expect(try bench.database.step(of: .transaction(1)) == .committed(seq: 101, time: 7_000))
        #expect(try bench.database.step(of: .transaction(2)) == .resending)
        let push = try sent(after: 1)
        #expect(push.map(\.number) == [2, 3, 4])
        #expect(push.map(\.entry.id) == [2, 3, 4].map { .transaction($0) })
        #expect(events.contains(.serverWentBack(from: 103, to: 101, LossCounts(resent: 2))))
        #expect(try bench.database.beginConnection().ackedThrough == 1)
    }

    @Test func `shown values stay visible, and an increment takes effect once`() throws {
        #expect(try bench.fields(.note(9))?["likes"] == 111)
        _ = try goBack(to: 1)
        #expect(try bench.fields(.note(9))?["likes"] == 111)
        #expect(try bench.fields(.note(1))?["text"] == "new")
        // The server has the note as it was after the first transaction.
        try bench.page(room, "rooms", .room(1, seq: 1))
        try bench.page(room, "notes", .note(9, seq: 101, born: 3, ["likes": 1, "text": "b"]))
        #expect(try bench.fields(.note(9))?["likes"] == 111)
        #expect(try bench.fields(.note(1))?["text"] == "new")
        _ = try sent(after: 1)
        try bench.apply(
            from: "d0", to: "d1", .note(9, seq: 103, born: 3, ["likes": 11, "text": "b"]),
            .note(1, seq: 104, author: "ann", ["text": "new"]), settled: .outcomes([(2, 2, nil), (3, 3, nil)]))
        #expect(try bench.fields(.note(9))?["likes"] == 111)
        #expect(try bench.database.step(of: .transaction(2)) == .committed(seq: 102, time: 7_000))
        #expect(try bench.state(.note(1)) == "synced")
    }

    @Test func `a number that was refused is offered with nothing in it`() throws {
        try bench.apply(from: "c1", to: "c2", settled: .outcomes([(4, 4, .quota)]))
        try bench.write(5, .set(.note(9), "text", "c"))
        _ = try goBack(to: 2)
        let push = try sent(after: 2)
        #expect(push.map(\.number) == [3, 4, 5])
        #expect(try push[1].entry.content.get().mutations.isEmpty)
        #expect(try bench.database.parked().map(\.transaction.id) == [.transaction(4)])
        try bench.apply(from: "d0", to: "d1", settled: .outcomes([(3, 3, nil), (4, 4, .invalid), (5, 5, nil)]))
        #expect(try bench.database.parked().map(\.rejection.code) == [.quota])
    }

    @Test func `numbers that are no longer kept are offered with nothing in them, and the others keep theirs`() throws {
        try bench.database.writer.write { try Journal(db: $0).trim(through: 101, before: 0) }
        let events = try goBack(to: 0)
        let push = try sent(after: 0)
        #expect(push.map(\.number) == [1, 2, 3, 4])
        #expect(try push[0].entry.content.get().mutations.isEmpty && push[0].entry.id != .transaction(1))
        #expect(events.contains(.serverWentBack(from: 103, to: nil, LossCounts(resent: 2, missing: 1))))
        let id = try #require(push[0].entry.id)
        let outcome = TransactionOutcome(
            number: 1, transaction: id, seq: 0, time: 1, rejection: Rejection(.invalid, "no mutations"))
        try bench.apply(from: "d0", to: "d1", settled: Settled(through: 1, outcomes: [outcome]))
        #expect(try bench.database.parked().isEmpty)
    }

    @Test func `transactions settled unnoticed after the server went back are for the app to decide`() throws {
        // The first three were settled at 101 to 103; a late copy of a push repeated two of them at the server that had
        // lost them.
        let events = try goBack(to: 2, lost: 102)
        #expect(try bench.database.parked().map(\.transaction.id) == [.transaction(2)])
        #expect(try bench.database.step(of: .transaction(1)) == .committed(seq: 101, time: 7_000))
        let push = try sent(after: 2)
        #expect(push.map(\.number) == [3, 4] && push.map(\.entry.id) == [3, 4].map { .transaction($0) })
        #expect(
            events.contains {
                if case .rejected(_, let rejection, _) = $0 { rejection.code == .conflict } else { false }
            }
        )
    }

    @Test func `a server that lost more numbers than can be offered empty has forgotten the client`() throws {
        let error = #expect(throws: StoreError.self) {
            try bench.database.change { try Journal(db: $0).fill(5...10_005, client: Bench.client, at: 0) }
        }
        #expect(error?.code == .serverForgot)
        #expect(try sent(after: 0).map(\.number) == [4])
    }

    @Test func `the lost transactions of a client id are sent under the next id at once, in front`() throws {
        try bench.database.change { try Meta.lostAbove.set(1, $0) }
        try bench.database.fork(newClient: UniqueID(high: 0xc2, low: 2))
        let push = try sent(after: 0)
        #expect(push.map(\.number) == [1, 2, 3] && push.map(\.entry.id) == [2, 3, 4].map { .transaction($0) })
        #expect(try bench.database.step(of: .transaction(1)) == .committed(seq: 101, time: 7_000))
        #expect(try bench.fields(.note(9))?["likes"] == 111)
    }

    @Test func `a record whose creation is refused when it is offered again disappears`() throws {
        _ = try goBack(to: 2, lost: 103)
        #expect(try bench.fields(.note(1))?["text"] == "new")
        try bench.apply(from: "d0", to: "d1", settled: .outcomes([(3, 3, .invalid)]))
        #expect(try bench.database.parked().count == 1)
        let shown = try bench.fields(.note(1))
        #expect(shown == nil)
    }

    @Test func `a client id that the server forgot offers lost transactions under a new one, in front`() throws {
        try bench.database.fork(newClient: UniqueID(high: 0xc2, low: 2))
        #expect(try bench.database.pendingCount() == 1)
        #expect(try bench.database.step(of: .transaction(3)) == .committed(seq: 103, time: 7_000))
        _ = try bench.database.beginConnection()
        _ = try goBack(to: 0, lost: 102, end: "c1")
        let push = try sent(after: 0)
        #expect(push.map(\.entry.id) == [2, 3, 4].map { .transaction($0) })
        #expect(push.map(\.number) == [1, 2, 3])
        #expect(try bench.fields(.note(9))?["likes"] == 111)
        #expect(try bench.database.step(of: .transaction(1)) == .committed(seq: 101, time: 7_000))
    }

    @Test func `a transaction maybe sent under a new client id keeps its number, and lost ones are sent after it`()
        throws
    {
        try bench.database.fork(newClient: UniqueID(high: 0xc2, low: 2))
        _ = try bench.database.beginConnection()
        #expect(try sent(after: 0).map(\.number) == [1])
        _ = try goBack(to: 0, lost: 102, end: "c1")
        let push = try sent(after: 0)
        #expect(push.map(\.entry.id) == [4, 2, 3].map { .transaction($0) })
        #expect(push.map(\.number) == [1, 2, 3])
    }

    @Test func `a client id that was registered in the lost part offers all its writes`() throws {
        try bench.database.fork(newClient: UniqueID(high: 0xc2, low: 2))
        _ = try bench.database.beginConnection()
        _ = try goBack(to: 0, lost: 103)
        #expect(try sent(after: 0).map(\.entry.id) == [1, 2, 3, 4].map { .transaction($0) })
        #expect(try bench.fields(.note(9))?["likes"] == 111)
    }

    @Test(arguments: [Welcome.CursorState.behind, .resync])
    func `the writes of a forgotten client id are offered if it is unknown what was lost`(
        _ state: Welcome.CursorState
    ) throws {
        try bench.database.fork(newClient: UniqueID(high: 0xc2, low: 2))
        _ = try bench.database.beginConnection()
        let kept = [HeldScope(scope: room, since: 1)]
        try bench.database.welcomed(.make(state: state, cursor: "d0", kept: kept))
        #expect(try sent(after: 0).map(\.entry.id) == [1, 2, 3, 4].map { .transaction($0) })
    }

    @Test func `a write that restores a record waits for its scope as well`() throws {
        try bench.write(5, .delete(.note(1)))
        try bench.write(
            6, Mutation(key: .note(1), action: .undelete(Fields(dictionaryLiteral: ("text", "new")).inRoom(1))))
        var welcome = Welcome.make(state: .resync, cursor: "d0", purged: [room], settledThrough: 3)
        (welcome.epoch, welcome.lost) = (2, 104)
        try bench.database.welcomed(welcome)
        try bench.apply(
            from: "d0", to: "d1", settled: .outcomes([(4, 4, .invalid), (5, 5, .invalid), (6, 6, .invalid)]))
        try bench.apply(from: "d1", to: "d2")
        #expect(try bench.database.parked().map(\.transaction.id) == [4, 5, 6].map { .transaction($0) })
        #expect(try bench.row(.note(1)) == nil && bench.database.pendingCount() == 0)
    }

    @Test func `a copy of the file offers nothing that was settled elsewhere`() throws {
        try bench.database.fork(newClient: UniqueID(high: 0xc2, low: 2), isCopy: true)
        _ = try bench.database.beginConnection()
        _ = try goBack(to: 0, lost: 1)
        #expect(try sent(after: 0).isEmpty)
    }

    @Test func `an edit of a lost record waits for its creator, and is sent again by itself`() throws {
        _ = try goBack(to: 1)
        _ = try sent(after: 1)
        // The note is lost; earlier writes to it are refused.
        try bench.page(room, "rooms", .room(1, seq: 1))
        try bench.page(room, "notes")
        try bench.apply(
            from: "d0", to: "d1", .note(1, seq: 50, author: "ann", ["text": "new"]),
            settled: .outcomes([(2, 2, .notFound), (3, 3, nil), (4, 4, .notFound)]))
        #expect(try bench.database.parked().map(\.transaction.id) == [2, 4].map { .transaction($0) })
        #expect(try bench.row(.note(9)) == nil)
        try bench.apply(from: "d1", to: "d2", .note(9, seq: 60, ["likes": 1, "text": "a"]))
        #expect(try bench.database.parked().isEmpty)
        #expect(try bench.fields(.note(9))?["likes"] == 111)
        #expect(try sent(after: 4).map(\.entry.id) == [2, 4].map { .transaction($0) })
        // If it is refused once more, it stays parked.
        try bench.apply(from: "d2", to: "d3", settled: .outcomes([(5, 2, .notFound), (6, 4, nil)]))
        try bench.apply(from: "d3", to: "d4", .note(9, seq: 70, ["likes": 101, "text": "a"]))
        #expect(try bench.database.parked().map(\.transaction.id) == [.transaction(2)])
    }

    @Test func `a scope that this device opened stays visible until it exists again`() throws {
        let own = RecordKey.room(2)
        try bench.write(5, .room(2))
        try bench.write(6, .note(6, in: 2, ["text": "mine"]))
        _ = try sent(after: 3)
        try bench.apply(
            from: "c1", to: "c2", .room(2, seq: 105), .note(6, in: 2, seq: 106, author: "ann", ["text": "mine"]),
            .note(7, in: 2, seq: 107, ["text": "another's"]),
            settled: .outcomes([(4, 4, nil), (5, 5, nil), (6, 6, nil)]),
            grants: [.init(scope: own.scope, since: 105, role: .owner)])
        _ = try goBack(to: 4, lost: 105, purged: [own.scope])
        #expect(try bench.fields(.note(6))?["text"] == "mine")
        #expect(try bench.row(own) != nil && bench.row(.note(7)) == nil)
        #expect(try bench.database.parked().isEmpty)
        #expect(try sent(after: 4).map(\.number) == [5, 6])
    }

    @Test func `a record evicted since is offered in its own scope, and parked with that`() throws {
        let other = RecordKey.room(3).scope
        try bench.write(5, .note(30, ["text": "mine"]), .room(3))
        _ = try sent(after: 4)
        try bench.apply(
            from: "c1", to: "c2", .note(30, seq: 105, author: "ann", ["text": "mine"]), .room(3, seq: 106),
            settled: .outcomes([(4, 4, nil), (5, 5, nil)]), grants: [.init(scope: other, since: 106, role: .owner)])
        try bench.database.writer.write { db in
            try db.run("DELETE FROM notes WHERE local_id = ?", [RecordKey.note(30).id.description])
        }
        _ = try goBack(to: 4, lost: 105, purged: [room, other])
        #expect(try bench.count("notes WHERE scope = '\(room.text)'") == 0)
        #expect(try bench.database.parked().map(\.transaction.id) == [.transaction(5)])
    }

    @Test func `of others' lost records the newest are kept, up to a bound`() throws {
        var limits = LocalLimits()
        limits.rescueBytesMax = 200
        let bench = Bench(
            database: try LocalDatabase.inMemory(
                account: Bench.user, schema: try TestSchema.schema(), newClient: Bench.client, limits: limits))
        try bench.join(room)
        try bench.page(room, "rooms", .room(1, seq: 1))
        try bench.page(room, "notes")
        for number in UInt64(20)...24 {
            try bench.apply(
                from: "c\(number - 20)", to: "c\(number - 19)",
                .note(number, seq: Int64(number) + 100, ["text": "a text of some length"]))
        }
        var welcome = Welcome.make(state: .resync, cursor: "d0", settledThrough: 0)
        (welcome.epoch, welcome.lost, welcome.purged) = (2, 104, [room])
        welcome.added = [.init(scope: room, since: 1, role: .member)]
        try bench.database.welcomed(welcome)
        let kept = try bench.count("tidemark_rescue")
        #expect(kept == 1 || kept == 2, "\(kept)")
        #expect(try bench.string("SELECT max(number) FROM tidemark_rescue") == "124")
    }

    @Test func `in a scope that is withdrawn as well nothing is treated as lost`() throws {
        let other = RecordKey.room(3).scope
        try bench.apply(
            from: "c1", to: "c2", .room(3, seq: 110), grants: [.init(scope: other, since: 100, role: .member)])
        try bench.page(other, "rooms", .room(3, seq: 110))
        try bench.page(other, "notes", .note(30, in: 3, seq: 120, ["text": "theirs"]))
        let events = try goBack(to: 3, lost: 104, purged: [other])
        let counts = events.compactMap { event -> LossCounts? in
            if case .serverWentBack(_, _, let counts) = event { counts } else { nil }
        }
        #expect(counts.map(\.lostRecords) == [0], "\(events)")
        #expect(try bench.count("tidemark_rescue") == 0)
    }

    @Test func `others' records are lost from the first lost number, and not before it`() throws {
        try bench.apply(
            from: "c1", to: "c2", .note(20, seq: 110, ["text": "kept"]), .note(21, seq: 111, ["text": "first"]),
            .note(22, seq: 112, ["text": "second"]))
        let events = try goBack(to: 3, lost: 111)
        #expect(events.contains(.serverWentBack(from: 112, to: 110, LossCounts(lostRecords: 2))))
        #expect(try bench.string("SELECT group_concat(number, ' ') FROM tidemark_rescue") == "111 112")
    }

    @Test func `an edit waits while the lost record is still shown, and is sent once the server has it again`() throws {
        try bench.apply(from: "c1", to: "c2", .note(9, seq: 110, born: 3, ["likes": 12, "text": "c"]))
        _ = try sent(after: 3)
        var welcome = Welcome.make(
            state: .rewound, cursor: "c1", kept: [HeldScope(scope: room, since: 1)], settledThrough: 3,
            rewind: .init(to: 103, end: "c1"))
        (welcome.epoch, welcome.lost) = (2, 104)
        try bench.database.welcomed(welcome)
        try bench.apply(from: "c1", to: "d1", settled: .outcomes([(4, 4, .notFound)]))
        #expect(try bench.row(.note(9)) != nil && bench.row(.note(9))?.seq == 0, "shown, and without the server's word")
        try bench.apply(from: "d1", to: "d2", .note(30, seq: 110, ["text": "other"]))
        #expect(try bench.database.parked().map(\.transaction.id) == [.transaction(4)])
        try bench.apply(from: "d2", to: "d3", .note(9, seq: 111, born: 3, ["likes": 11, "text": "b"]))
        #expect(try bench.database.parked().isEmpty)
        #expect(try sent(after: 4).map(\.entry.id) == [.transaction(4)])
    }

    @Test func `others' lost records are kept under a waiting write of this device`() throws {
        try bench.apply(from: "c1", to: "c2", .note(20, seq: 120, ["text": "theirs"]))
        try bench.write(5, .set(.note(20), "text", "mine"))
        let events = try goBack(to: 3, lost: 104)
        #expect(events.contains(.serverWentBack(from: 120, to: 103, LossCounts(lostRecords: 1))))
        let body = try bench.string("SELECT number || body FROM tidemark_rescue")
        #expect(body?.hasPrefix("120{") == true && body?.contains("theirs") == true && body?.contains("mine") == false)
    }

    @Test func `others' lost changes are kept though this device's own write to the record is offered again`()
        throws
    {
        try bench.apply(from: "c1", to: "c2", .note(9, seq: 110, born: 3, ["likes": 12, "text": "theirs"]))
        let events = try goBack(to: 1, lost: 102)
        #expect(events.contains(.serverWentBack(from: 110, to: 101, LossCounts(resent: 2, lostRecords: 1))))
        #expect(try bench.string("SELECT number || body FROM tidemark_rescue")?.hasPrefix("110{") == true)
    }

    @Test func `others' lost records can be read afterwards`() throws {
        try bench.apply(from: "c1", to: "c2", .note(20, seq: 120, ["text": "theirs"]))
        let events = try goBack(to: 3, lost: 104)
        #expect(events.contains(.serverWentBack(from: 120, to: 103, LossCounts(lostRecords: 1))))
        #expect(try bench.string("SELECT number || body FROM tidemark_rescue")?.hasPrefix("120{") == true)
        #expect(try bench.string("SELECT body FROM tidemark_rescue")?.contains("theirs") == true)
        try bench.apply(from: "d0", to: "d1", grants: [.init(scope: room, since: 130, role: nil)])
        #expect(try bench.count("tidemark_rescue") == 0)
    }
}
