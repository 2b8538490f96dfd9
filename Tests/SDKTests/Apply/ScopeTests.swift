import Testing
import TidemarkModel
import TidemarkWire

@testable import Tidemark

@Suite struct ScopeTests {
    private let room = RecordKey.room(1).scope
    private let other = RecordKey.room(2).scope

    private func lost(_ scope: ScopeID, at seq: SequenceNumber) -> Changes.GrantChange {
        .init(scope: scope, since: seq, role: nil)
    }

    private func gained(_ scope: ScopeID, at seq: SequenceNumber) -> Changes.GrantChange {
        .init(scope: scope, since: seq, role: .member)
    }

    private func bench() throws -> Bench {
        let bench = try Bench()
        try bench.join(room, other)
        try bench.apply(.room(1, seq: 2), .note(1, seq: 3), .note(2, seq: 4), .room(2, seq: 5), .note(9, in: 2, seq: 6))
        return bench
    }

    @Test func `losing a scope deletes all of it and nothing else`() throws {
        let bench = try bench()
        try bench.apply(from: "c1", to: "c2", .note(1, seq: 8, born: 3, deleted: true))
        try bench.write(1, .set(.note(2), "text", "x"))
        try bench.apply(from: "c2", to: "c3", grants: [lost(room, at: 9)])
        #expect(try bench.count("notes") == 1)
        #expect(try bench.count("rooms") == 1)
        for table in ["base", "tombstone", "outbox_record"] { #expect(try bench.count("tidemark_\(table)") == 0) }
        #expect(try bench.database.beginConnection().scopes == [HeldScope(scope: other, since: 1)])
        #expect(try bench.database.parked().map(\.rejection.code) == [.revoked])
        #expect(try bench.database.pendingCount() == 0)
        #expect(
            try bench.database.step(of: .transaction(1))
                == .rejected(Rejection(.revoked, "\(room): access to it ended")))
    }

    @Test func `a transaction parked before it was sent leaves its number behind, empty`() throws {
        let bench = try bench()
        try bench.write(1, .note(3))
        try bench.write(2, .note(4, in: 2))
        try bench.apply(from: "c1", to: "c2", grants: [lost(room, at: 9)])
        let push = try bench.database.nextPush(after: 0, maxTransactions: 9, maxBytes: 9_999)
        #expect(push.map(\.number) == [1, 2])
        #expect(push[0].entry == Push.Entry(Transaction(id: .transaction(1), mutations: [], clientTime: 1)))
        try bench.apply(
            from: "c2", to: "c3", .note(4, in: 2, seq: 10), settled: .outcomes([(1, 1, .invalid), (2, 2, nil)]))
        #expect(try bench.count(Bench.pending) == 0)
        #expect(try bench.database.parked().map(\.rejection.code) == [.revoked])
        #expect(try bench.state(.note(4)) == "synced")
    }

    @Test func `a transaction on its way when its scope is lost is judged by the server`() throws {
        for refused in [RejectionCode.forbidden, nil] {
            let bench = try bench()
            try bench.write(1, .note(3))
            _ = try bench.database.nextPush(after: 0, maxTransactions: 9, maxBytes: 9_999)
            try bench.apply(from: "c1", to: "c2", grants: [lost(room, at: 9)])
            #expect(try bench.database.parked().count == 1)
            let resent = try bench.database.nextPush(after: 0, maxTransactions: 9, maxBytes: 9_999)
            #expect(
                resent.first?.entry
                    == Push.Entry(Transaction(id: .transaction(1), mutations: [.note(3)], clientTime: 1)))
            try bench.apply(from: "c2", to: "c3", settled: .outcomes([(1, 1, refused)]))
            #expect(try bench.database.parked().count == (refused == nil ? 0 : 1))
            #expect(try bench.database.step(of: .transaction(1))?.isFinal == true)
            #expect(try bench.count(Bench.pending) == 0)
        }
    }

    @Test func `retrying a transaction that is still on its way queues it again under its number`() throws {
        let bench = try bench()
        try bench.write(1, .note(3))
        _ = try bench.database.nextPush(after: 0, maxTransactions: 9, maxBytes: 9_999)
        try bench.apply(from: "c1", to: "c2", grants: [lost(room, at: 9)])
        try bench.apply(from: "c2", to: "c3", grants: [gained(room, at: 10)])
        #expect(try bench.database.retryParked(.transaction(1), newID: .transaction(2)) == .transaction(1))
        #expect(try bench.state(.note(3)) == "pending")
        #expect(try bench.database.step(of: .transaction(1)) == .sending)
        try bench.apply(from: "c3", to: "c4", .note(3, seq: 12, author: "ann"), settled: .accepted(1, 1))
        #expect(try bench.state(.note(3)) == "synced")
        #expect(try bench.database.parked().isEmpty)
    }

    @Test func `a transaction that was accepted before the scope was lost is not parked`() throws {
        let bench = try bench()
        try bench.write(1, .note(3))
        try bench.apply(from: "c1", to: "c2", settled: .accepted(1, 1), grants: [lost(room, at: 9)])
        #expect(try bench.database.parked().isEmpty)
        #expect(try bench.database.step(of: .transaction(1))?.isFinal == true)
    }

    @Test func `a scope that was lost and granted again is filled anew, and late pages are dropped`() throws {
        let bench = try bench()
        try bench.page(room, "notes", next: 3)
        try bench.apply(from: "c1", to: "c2", grants: [lost(room, at: 9)])
        #expect(try !bench.page(room, since: 1, "notes", .note(1, seq: 3)))
        try bench.apply(from: "c2", to: "c3", grants: [gained(room, at: 12)])
        #expect(try !bench.page(room, since: 1, "notes", .note(1, seq: 3)))
        #expect(try bench.count("notes") == 1)
        #expect(try bench.page(room, since: 12, "notes", .note(1, seq: 3)))
        #expect(try bench.count("notes") == 2)
    }

    @Test func `a scope that is lost and regained within one frame keeps its pending writes`() throws {
        let bench = try bench()
        try bench.write(1, .note(3))
        try bench.write(2, .set(.note(1), "text", "mine"))
        try bench.apply(from: "c1", to: "c2", grants: [lost(room, at: 9), gained(room, at: 10)])
        #expect(try bench.row(.note(2)) == nil)
        #expect(try bench.row(.note(3)) != nil)
        #expect(try bench.fields(.note(1))?["text"] == "mine")
        #expect(try bench.database.pendingCount() == 2)
        #expect(try bench.page(room, since: 10, "notes", .note(1, seq: 3, ["done": true])))
        let expected: Fields = ["text": "mine", "done": true]
        #expect(try bench.fields(.note(1)) == expected.inRoom(1))
    }

    @Test func `a grant that is already held changes only the role`() throws {
        let bench = try bench()
        try bench.page(room, "notes")
        let pages = try bench.database.nextPages(limit: 9)
        try bench.apply(from: "c1", to: "c2", grants: [.init(scope: room, since: 1, role: .admin)])
        #expect(try bench.database.nextPages(limit: 9) == pages)
        #expect(try bench.string("SELECT role FROM tidemark_scope WHERE scope = '\(room)'") == "admin")
        #expect(try bench.count("notes") == 3)
    }

    @Test func `pages are requested shared scopes first, then newest grants, then further back by age`() throws {
        let bench = try Bench()
        _ = try bench.database.beginConnection()
        let directory = ScopeID("directory")
        try bench.database.welcomed(
            .make(added: [gained(room, at: 3), gained(directory, at: 0), gained(other, at: 7)]))
        func next() throws -> [String] {
            try bench.database.nextPages(limit: 9).map { page in
                let name = page.scope == room ? "room" : page.scope == other ? "other" : "directory"
                return "\(name) \(page.since) \(page.collection) \(page.before ?? 0)"
            }
        }
        #expect(
            try next() == ["directory 0 people 0", "other 7 rooms 0", "room 3 rooms 0"],
            "what belongs to a room is not asked for before the room is here")
        try bench.page(directory, since: 0, "people")
        try bench.page(other, since: 7, "rooms", .room(2, seq: 5))
        try bench.page(other, since: 7, "notes", .note(1, in: 2, seq: 30), next: 30)
        try bench.page(room, since: 3, "notes", .note(2, seq: 40), next: 40)
        #expect(try next() == ["room 3 rooms 0", "other 7 notes 30"])
        #expect(try bench.database.nextPages(limit: 1).count == 1)
        try bench.page(room, since: 3, "rooms", .room(1, seq: 4))
        #expect(try next() == ["room 3 notes 40", "other 7 notes 30"])
        try bench.page(room, since: 3, "notes", .note(2, seq: 41), next: 41)
        #expect(try next() == ["room 3 notes 40", "other 7 notes 30"])
    }
}
