import Testing
import TidemarkModel
import TidemarkSequencer

@testable import TidemarkStore

/// The rights of a restore, whether the deletion was in the same transaction, in another, or before a restart.
@Suite struct RestoringTests {
    enum Span: CaseIterable { case oneTransaction, oneBatch, twoBatches }

    private static let room = Desk.id(1).description
    private let deleted: Fields = [
        "room": .string(room), "kind": "fault", "status": "open", "grade": 3, "best": 9, "count": 5, "seen": ["ann"],
        "labels": ["red"], "stamp": 1,
    ]

    /// A club of ann (its owner), bob (an admin) and cem (a member), with a ticket (10) and a post (11) of ann's.
    private func desk() throws -> Desk {
        var desk = Desk()
        for (number, user) in ["ann", "bob", "cem", "eve"].enumerated() { try desk.register(UInt64(number + 1), user) }
        let club: Fields = ["members": ["ann", "bob", "cem"], "admins": ["bob"], "title": "chess"]
        #expect(
            try desk.settle(
                1, "ann", 1, Desk.mutation("clubs", 1, .create(club)), Desk.mutation("tickets", 10, .create(deleted)),
                Desk.mutation("posts", 11, .create(["room": .string(Self.room), "text": "mine"])),
                Desk.mutation("slips", 12, .create(["room": .string(Self.room), "text": "old"]))) == nil)
        return desk
    }

    /// A user deletes a record and restores it.
    private func replace(
        _ desk: inout Desk, _ client: UInt64, _ user: String, _ span: Span, _ collection: String, _ id: UInt64,
        _ fields: Fields
    ) throws -> RejectionCode? {
        let deletion = Desk.mutation(collection, id, .delete)
        let restore = Desk.mutation(collection, id, .undelete(fields))
        let first = Int64(desk.tables.settled(Desk.id(client))) + 1
        switch span {
        case .oneTransaction: return try desk.settle(client, user, first, deletion, restore)
        case .oneBatch:
            let plan = try desk.sequence([
                desk.submission(client, user, first: first, [(901, [deletion]), (902, [restore])])
            ])
            #expect(plan.outcomes[0].refusals.first == .some(nil))
            return plan.outcomes[0].refusals.last ?? nil
        case .twoBatches:
            #expect(try desk.settle(client, user, first, deletion) == nil)
            return try desk.settle(client, user, first + 1, restore)
        }
    }

    private func record(_ desk: Desk, _ collection: String, _ id: UInt64) throws -> (StoredRecord, Fields) {
        let key = RecordKey(collection: collection, id: Desk.id(id))
        var reads = ReadSet()
        reads.records = [key]
        let record = try #require(desk.tables.read(reads, in: Desk.workspace).records[key])
        return (record, record.isDeleted ? Fields() : try JSONReader.read(record.body) { try $0.fields() })
    }

    @Test(arguments: Span.allCases)
    func `immutable, counted, rising and growing fields keep their values`(_ span: Span) throws {
        var desk = try desk()
        var other = deleted
        (other["kind"], other["best"], other["count"], other["seen"]) = ("trick", 1, 100, ["eve"])
        (other["status"], other["labels"]) = ("closed", ["blue"])
        #expect(try replace(&desk, 3, "cem", span, "tickets", 10, other) == nil)
        let (ticket, fields) = try record(desk, "tickets", 10)
        var expected = deleted
        (expected["status"], expected["labels"]) = ("closed", ["blue"])
        #expect(fields == expected)
        #expect(ticket.author == UserID("cem") && ticket.born < ticket.seq && ticket.buried.isEmpty)
        let entries = desk.tables.history(
            of: ticket.key, scope: ticket.scope, before: .max, limit: 10, in: Desk.workspace
        ).entries
        #expect(Set(entries.map(\.value.field)) == ["status", "labels"])
        #expect(entries.allSatisfy { $0.author == UserID("cem") && $0.seq == ticket.seq })
        #expect(entries.first { $0.value.field == "status" }?.value.old == "open")
    }

    @Test(arguments: Span.allCases)
    func `no user's words are restored differently under their name`(_ span: Span) throws {
        var desk = try desk()
        let words: Fields = ["room": .string(Self.room), "text": "forged"]
        #expect(try replace(&desk, 3, "cem", span, "posts", 11, words) == nil)
        let (post, fields) = try record(desk, "posts", 11)
        #expect(fields["text"] == "mine")
        #expect(post.author == UserID("cem"))
        #expect(try replace(&desk, 1, "ann", span, "slips", 12, ["room": .string(Self.room), "text": "new"]) == nil)
        #expect(try record(desk, "slips", 12).0.author == UserID("ann"))
    }

    @Test(arguments: Span.allCases)
    func `a restore changes only fields that its caller may change`(_ span: Span) throws {
        for (client, user, expected) in [(3, "cem", RejectionCode.forbidden), (2, "bob", nil)]
            as [(UInt64, String, RejectionCode?)]
        {
            for field in ["grade", "stamp"] {
                var desk = try desk()
                var other = deleted
                other[field] = 999
                #expect(try replace(&desk, client, user, span, "tickets", 10, other) == expected, "\(user) \(field)")
            }
        }
    }

    @Test(arguments: Span.allCases)
    func `a restricted field stays if a restore does not name it, and null removes it`(
        _ span: Span
    ) throws {
        var desk = try desk()
        #expect(
            try replace(&desk, 3, "cem", span, "tickets", 10, ["room": .string(Self.room), "status": .null]) == nil)
        var expected = deleted
        (expected["status"], expected["labels"]) = (nil, nil)
        #expect(try record(desk, "tickets", 10).1 == expected)
        let grade: Fields = ["room": .string(Self.room), "grade": .null]
        #expect(try replace(&desk, 3, "cem", span, "tickets", 10, grade) == .forbidden)
        if span == .oneTransaction { #expect(try replace(&desk, 2, "bob", span, "tickets", 10, grade) == nil) }
    }

    @Test func `a value that waits for a user's choice is not overwritten by a restore`() throws {
        var desk = try desk()
        let plan = Desk.mutation("tickets", 10, .update([NamedPatch("plan", .set("a"))]))
        #expect(try desk.settle(1, "ann", 2, plan, Desk.mutation("tickets", 10, .delete)) == nil)
        var other = deleted
        other["plan"] = "b"
        #expect(try desk.settle(3, "cem", 1, Desk.mutation("tickets", 10, .undelete(other))) == .conflict)
        #expect(try desk.settle(3, "cem", 2, Desk.mutation("tickets", 10, .undelete(deleted))) == nil)
        #expect(try record(desk, "tickets", 10).1["plan"] == "a")
    }

    @Test func `only a service writes the server's fields, and the rest passes`() throws {
        var desk = try desk()
        let sum = Desk.mutation("tickets", 10, .update([NamedPatch("sum", .set(7))]))
        #expect(try desk.settle(4, "eve", 1, isService: true, sum) == nil)
        var other = deleted
        other["sum"] = 1
        #expect(try replace(&desk, 3, "cem", .twoBatches, "tickets", 10, other) == nil)
        #expect(try record(desk, "tickets", 10).1["sum"] == 7)
        (other["grade"], other["kind"]) = (9, "trick")
        #expect(try desk.settle(4, "eve", 2, isService: true, Desk.mutation("tickets", 10, .delete)) == nil)
        #expect(try desk.settle(4, "eve", 3, isService: true, Desk.mutation("tickets", 10, .undelete(other))) == nil)
        let (ticket, fields) = try record(desk, "tickets", 10)
        #expect(fields["sum"] == 1 && fields["grade"] == 9 && fields["kind"] == "fault")
        #expect(ticket.author == UserID("cem"))
    }

    @Test func `a restore requires the right to delete, which a moderator has used, and the right to create`() throws {
        var desk = try desk()
        let note = Desk.mutation("notes", 20, .create(["room": .string(Self.room), "text": "x"]))
        #expect(try desk.settle(3, "cem", 1, note) == nil)
        #expect(try desk.settle(2, "bob", 1, Desk.mutation("notes", 20, .delete)) == nil)
        let back = Desk.mutation("notes", 20, .undelete(["room": .string(Self.room), "text": "x"]))
        #expect(try desk.settle(1, "ann", 2, back) == nil)
        #expect(try desk.settle(1, "ann", 3, Desk.mutation("notes", 20, .delete)) == nil)
        #expect(try desk.settle(3, "cem", 2, back) == .forbidden)
        #expect(try desk.settle(4, "eve", 1, back) == .notFound)
    }

    // MARK: Scopes

    private func club(_ fields: Fields) -> Mutation { Desk.mutation("clubs", 1, .undelete(fields)) }

    @Test func `a removed creator gets no role by restoring what others deleted`() throws {
        var desk = try desk()
        let removal = Desk.mutation("clubs", 1, .update([NamedPatch("members", .remove(["ann"]))]))
        #expect(try desk.settle(2, "bob", 1, removal) == nil)
        #expect(
            try desk.settle(
                2, "bob", 2, Desk.mutation("slips", 30, .create(["room": .string(Self.room), "text": "secret"]))) == nil
        )
        #expect(try desk.settle(2, "bob", 3, Desk.mutation("clubs", 1, .delete)) == nil)
        #expect(try desk.settle(1, "ann", 2, club(["members": ["ann"]])) == .notFound)
        #expect(try desk.settle(4, "eve", 1, club(["members": ["eve"]])) == .notFound)
        #expect(desk.tables.session(for: UserID("ann"), client: nil, in: Desk.workspace).grants.isEmpty)
        #expect(try desk.settle(2, "bob", 4, club(["members": ["bob", "cem"]])) == nil)
        #expect(desk.tables.session(for: UserID("ann"), client: nil, in: Desk.workspace).grants.isEmpty)
    }

    @Test(arguments: Span.allCases)
    func `a restored scope keeps its owner, and no user's role rises`(_ span: Span) throws {
        var desk = try desk()
        let people: Fields = ["members": ["ann", "bob", "cem"], "admins": ["bob"], "title": "chess"]
        #expect(try replace(&desk, 3, "cem", span, "clubs", 1, people) == nil)
        func role(_ user: String) -> Role? {
            desk.tables.session(for: UserID(user), client: nil, in: Desk.workspace).grants.first?.role
        }
        #expect(role("ann") == .owner && role("bob") == .admin && role("cem") == .member)
        var risen = people
        risen["admins"] = ["bob", "cem"]
        var again = try self.desk()
        #expect(try replace(&again, 3, "cem", span, "clubs", 1, risen) == .forbidden)
        risen = people
        risen["title"] = "mine"
        again = try self.desk()
        #expect(try replace(&again, 2, "bob", span, "clubs", 1, risen) == .forbidden)
        again = try self.desk()
        #expect(try replace(&again, 1, "ann", span, "clubs", 1, risen) == nil)
        #expect(try replace(&again, 1, "ann", span, "clubs", 1, ["members": ["bob"]]) == .invalid)
    }

    // MARK: Deletions without a stored body

    @Test func `without a stored deleted body, only what no user could misuse is restored`() throws {
        var desk = try desk()
        #expect(
            try desk.settle(
                1, "ann", 2, Desk.mutation("tickets", 10, .delete), Desk.mutation("slips", 12, .delete),
                Desk.mutation("clubs", 1, .delete)) == nil)
        desk.tables.forgetBuried(in: Desk.workspace)
        #expect(try desk.settle(1, "ann", 3, club(["members": ["ann"]])) == .notFound)
        #expect(try desk.settle(4, "eve", 1, isService: true, club(["members": ["ann", "cem"]])) == nil)
        #expect(try desk.settle(1, "ann", 4, Desk.mutation("tickets", 10, .undelete(deleted))) == .forbidden)
        let slip: Fields = ["room": .string(Self.room), "text": "again"]
        #expect(try desk.settle(3, "cem", 1, Desk.mutation("slips", 12, .undelete(slip))) == nil)
        #expect(try record(desk, "slips", 12).1 == slip)
    }
}

extension MemoryTables {
    fileprivate func settled(_ client: ClientID) -> Int64 {
        var reads = ReadSet()
        reads.clients = [client]
        return read(reads, in: Desk.workspace).clients[client]?.row.settledThrough ?? 0
    }

    /// The record as an earlier server has left it.
    fileprivate mutating func forgetBuried(in workspace: WorkspaceID) {
        for var record in records(in: workspace) where record.isDeleted {
            record.buried = []
            workspaces[workspace]?.records[record.key] = record
        }
    }
}
