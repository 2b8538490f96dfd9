import Foundation
import Testing
import TidemarkModel
import TidemarkWire

@testable import Tidemark

@Suite struct ConnectionTests {
    private let room = RecordKey.room(1).scope
    private let other = RecordKey.room(2).scope

    @Test func `a copy is as new as the welcome if the server has no change, and as the change if that is newer`()
        throws
    {
        let bench = try Bench()
        #expect(try bench.database.lastKnown().sync == nil)
        try bench.join(RecordKey.room(1).scope)
        var nothing = Changes.make(from: "c0", to: "c1", [])
        nothing.time = 0
        try bench.database.apply(nothing, now: 9_000)
        #expect(try bench.database.lastKnown().sync == Date(milliseconds: 4_000))
        try bench.apply(from: "c1", to: "c2")
        #expect(try bench.database.lastKnown().sync == Date(milliseconds: 5_000))
    }

    @Test func `connections are counted for good and a client is new until it is welcomed`() throws {
        let folder = try TemporaryFolder()
        let bench = try Bench(path: folder.path("a"))
        let first = try bench.database.beginConnection()
        #expect(
            first
                == ConnectionStart(
                    client: Bench.client, isNewClient: true, connection: 1, cursor: nil, scopes: [], ackedThrough: 0,
                    owner: StoreOwner(account: Bench.user, schema: "test"), written: 0))
        try bench.database.welcomed(.make(added: [.init(scope: room, since: 4, role: .owner)]))
        try bench.database.close()
        let again = try LocalDatabase.open(
            path: folder.path("a"), account: Bench.user, schema: try TestSchema.schema(),
            newClient: UniqueID(high: 1, low: 1))
        #expect(
            try again.beginConnection()
                == ConnectionStart(
                    client: Bench.client, isNewClient: false, connection: 2, cursor: "c0",
                    scopes: [HeldScope(scope: room, since: 4)], ackedThrough: 0,
                    owner: StoreOwner(account: Bench.user, schema: "test"), roles: [.owner], written: 0))
        let other = Bench(database: again)
        try other.write(1, .room(2))
        try other.write(2, .note(1, in: 2))
        #expect(try again.beginConnection().written == 2, "what has still to be sent counts")
    }

    @Test func `a role that changed while the device was away is replaced, in the grant of the welcome`() throws {
        let bench = try Bench()
        try bench.join(room, since: 4)
        func welcome(_ role: Role, since: SequenceNumber) throws {
            var welcome = Welcome.make(state: .ok, kept: [HeldScope(scope: room, since: 4)])
            welcome.roles = [.init(scope: room, since: since, role: role)]
            try bench.database.welcomed(welcome)
        }
        try welcome(.admin, since: 4)
        #expect(try bench.database.beginConnection().roles == [.admin])
        try welcome(.owner, since: 3)
        #expect(try bench.database.beginConnection().roles == [.admin])
    }

    @Test func `a kept cursor is not moved by the welcome and settles nothing`() throws {
        let bench = try Bench()
        try bench.join(room)
        try bench.write(1, .note(1))
        try bench.database.welcomed(
            .make(state: .ok, cursor: "c7", kept: [HeldScope(scope: room, since: 1)], settledThrough: 1))
        #expect(try bench.database.beginConnection().cursor == "c0")
        #expect(try bench.database.pendingCount() == 1)
        #expect(try bench.state(.note(1)) == "pending")
    }

    @Test func `the welcome drops scopes that are no longer granted and fills new ones`() throws {
        let bench = try Bench()
        try bench.join(room, other)
        try bench.apply(.note(1, seq: 3), .note(2, in: 2, seq: 4))
        try bench.write(1, .note(5))
        try bench.write(2, .note(6, in: 2))
        try bench.database.welcomed(
            .make(state: .ok, purged: [room, other], added: [.init(scope: other, since: 9, role: .member)]))
        #expect(try bench.row(.note(1)) == nil)
        #expect(try bench.row(.note(2)) == nil)
        #expect(try bench.row(.note(5)) == nil)
        #expect(try bench.row(.note(6)) != nil)
        #expect(try bench.database.parked().map(\.transaction.id) == [.transaction(1)])
        #expect(try bench.database.nextPages(limit: 9).map(\.since) == [9])
    }

    @Test func `a resync keeps the copy visible until pages replace it, and keeps pending writes`() throws {
        let bench = try Bench()
        try bench.join(room, other)
        try bench.apply(.note(1, seq: 13, ["text": "a"]), .note(2, seq: 14), .note(3, seq: 15), .note(4, seq: 16))
        try bench.apply(from: "c1", to: "c2", .note(9, in: 2, seq: 17))
        try bench.page(room, "notes")
        try bench.write(1, .set(.note(1), "text", "mine"))
        try bench.write(2, .note(5))
        try bench.write(3, .delete(.note(2)))
        try bench.database.welcomed(
            .make(
                state: .resync, cursor: "d0", purged: [room, other],
                added: [.init(scope: room, since: 1, role: .member)]))
        #expect(try bench.database.beginConnection().cursor == "d0")
        #expect(try bench.fields(.note(1))?["text"] == "mine")
        #expect(try bench.row(.note(2)) == nil)
        for kept in [3, 4, 5] { #expect(try bench.row(.note(UInt64(kept))) != nil) }
        // A scope that is no longer granted is deleted at once.
        #expect(try bench.row(.note(9)) == nil)
        #expect(try bench.database.nextPages(limit: 9).count == 1)
        // The restored server has older states of two notes, and never had the others.
        try bench.page(room, "notes", .note(3, seq: 3, ["text": "old"]), .note(1, seq: 2, ["text": "old"]))
        #expect(try bench.fields(.note(1))?["text"] == "mine")
        #expect(try bench.row(.note(1))?.seq == 2)
        #expect(try bench.fields(.note(3))?["text"] == "old")
        try bench.apply(
            from: "d0", to: "d1", .note(1, seq: 7, born: 2, ["text": "mine"]), .note(5, seq: 8),
            settled: .outcomes([(1, 1, nil), (2, 2, nil), (3, 3, .notFound)]))
        #expect(try bench.row(.note(4)) != nil)
        try bench.page(room, "rooms")
        for gone in [2, 4] { #expect(try bench.row(.note(UInt64(gone))) == nil) }
        #expect(try bench.count("notes") == 3)
        #expect(try bench.count("tidemark_base") == 0)
    }

    @Test func `a number that this database never gave needs a new client`() throws {
        let bench = try Bench()
        try bench.join(room)
        try bench.write(1, .note(1))
        try bench.write(2, .note(2))
        try bench.apply(.note(1, seq: 8), settled: .accepted(1, 1))
        let before = try bench.dump()
        let error = #expect(throws: StoreError.self) {
            try bench.database.welcomed(.make(state: .resync, cursor: "x", settledThrough: 3))
        }
        #expect(error?.code == .clientForked)
        #expect(try bench.dump() == before)
        try bench.database.welcomed(.make(state: .ok, settledThrough: 1))
    }

    @Test func `a fork renumbers what is pending and keeps its ids`() throws {
        let bench = try Bench()
        try bench.join(room)
        try bench.apply(.note(9, seq: 3, ["likes": 1]))
        try bench.write(1, .note(1))
        try bench.apply(from: "c1", to: "c2", .note(1, seq: 8), settled: .accepted(1, 1))
        try bench.write(2, .update(.note(9), [NamedPatch("likes", .increment(1))]))
        try bench.write(3, .set(.note(1), "text", "x"))
        _ = try bench.database.nextPush(after: 1, maxTransactions: 9, maxBytes: 9_999)
        try bench.write(4, .update(.note(9), [NamedPatch("likes", .increment(5))]))
        try bench.database.fork(newClient: UniqueID(high: 0xc2, low: 2))
        let start = try bench.database.beginConnection()
        #expect(start.client == UniqueID(high: 0xc2, low: 2))
        #expect(start.isNewClient)
        #expect(start.ackedThrough == 0)
        #expect(start.cursor == "c2")
        let push = try bench.database.nextPush(after: 0, maxTransactions: 9, maxBytes: 9_999)
        #expect(push.map(\.number) == [1, 2])
        #expect(push.map(\.entry.id) == [.transaction(3), .transaction(4)])
        // Sending the increment again might count it twice: the app decides.
        #expect(try bench.database.parked().map(\.transaction.id) == [.transaction(2)])
        #expect(try bench.fields(.note(9))?["likes"] == 6)
        #expect(try bench.write(5, .note(7)) == 3)
    }
}
