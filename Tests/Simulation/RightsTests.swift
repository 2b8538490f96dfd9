import Testing
import TidemarkModel
import TidemarkStore

/// Each of the invariants of `Rights` is broken by its own violation, and by nothing similar.
@Suite struct RightsTests {
    private let room = UniqueID(high: 1, low: 1)
    private let note = UniqueID(high: 1, low: 2)
    private var scope: ScopeID { ScopeID(record: room) }

    /// An order of batches as a server would commit them, one record a batch.
    private struct Order {
        var rights = Rights()
        private var last: SequenceNumber = 0
        private var stored: [RecordKey: StoredRecord] = [:]

        /// - Parameter fields: `nil` deletes the record.
        mutating func commit(_ key: RecordKey, in scope: ScopeID, _ fields: Fields?, by users: String...) throws {
            last += 1
            let before = stored[key]
            let author = before.flatMap { $0.isDeleted ? nil : $0.author } ?? UserID(users[0])
            let record = StoredRecord(
                key: key, scope: scope, seq: last, born: before?.born ?? last, isDeleted: fields == nil,
                author: key.collection == "conversations" ? before?.author ?? author : author, created: 1, updated: 1,
                body: fields?.canonicalBytes ?? [], buried: fields == nil ? before?.body ?? [] : [])
            stored[key] = record
            let head = Head(seq: last, nonce: 1, time: 1, epoch: 1)
            try rights.committed(
                CommittedBatch(low: last, head: head, records: [record]), by: [key: Set(users.map { UserID($0) })])
        }

        /// The invariant that is broken when a user is sent the record.
        func broken(_ key: RecordKey, to user: String) throws -> Invariant? {
            guard let record = stored[key] else { return nil }
            let fields = record.isDeleted ? Fields() : try JSONReader.read(record.body) { try $0.fields() }
            let row = Change(
                key: key, scope: record.scope, seq: record.seq, born: record.born, isDeleted: record.isDeleted,
                author: record.author, created: 1, updated: 1, fields: fields)
            do throws(Violation) {
                try rights.judge(row, to: UserID(user))
                return nil
            } catch {
                return error.invariant
            }
        }
    }

    private func order() throws -> (Order, room: RecordKey, note: RecordKey) {
        var order = Order()
        let keys = (RecordKey(collection: "conversations", id: room), RecordKey(collection: "notes", id: note))
        try order.commit(keys.0, in: scope, ["memberIds": ["ann", "bob", "cem"], "adminIds": ["bob"]], by: "ann")
        try order.commit(keys.1, in: scope, ["kind": "a", "stamp": 1, "sign": "cem"], by: "cem")
        return (order, keys.0, keys.1)
    }

    @Test func `an immutable field that is another after a restore breaks I-36`() throws {
        var (order, _, note) = try order()
        try order.commit(note, in: scope, nil, by: "cem")
        try order.commit(note, in: scope, ["kind": "a", "stamp": 1, "sign": "cem"], by: "cem")
        #expect(try order.broken(note, to: "ann") == nil)
        try order.commit(note, in: scope, nil, by: "cem")
        try order.commit(note, in: scope, ["kind": "b", "stamp": 1, "sign": "cem"], by: "cem")
        #expect(try order.broken(note, to: "ann") == .immutability)
    }

    @Test func `an admin's field that a member changes in any way breaks I-37`() throws {
        for (user, expected) in [("cem", Invariant.fieldAccess), ("bob", nil), ("ann", nil)] as [(String, Invariant?)] {
            var (order, _, note) = try order()
            try order.commit(note, in: scope, nil, by: "cem")
            try order.commit(note, in: scope, ["kind": "a", "stamp": 9, "sign": "cem"], by: user)
            #expect(try order.broken(note, to: "ann") == expected, "\(user) restores")
            (order, _, note) = try self.order()
            try order.commit(note, in: scope, ["kind": "a", "stamp": 9, "sign": "cem"], by: user)
            #expect(try order.broken(note, to: "ann") == expected, "\(user) changes")
        }
        var (order, _, note) = try order()
        try order.commit(note, in: scope, ["kind": "a", "stamp": 1, "sign": "bob"], by: "bob")
        #expect(try order.broken(note, to: "ann") == .fieldAccess)
        let graded = RecordKey(collection: "notes", id: UniqueID(high: 1, low: 3))
        try order.commit(graded, in: scope, ["kind": "a", "grade": 9], by: "cem")
        #expect(try order.broken(graded, to: "ann") == .fieldAccess)
    }

    @Test(
        arguments: [("stars", 5, false), ("stars", 6, true), ("stage", "done", false), ("stage", "lost", true)]
            as [(String, FieldValue, Bool)])
    func `a value that its field does not allow breaks I-39`(_ field: String, _ value: FieldValue, _ isBroken: Bool)
        throws
    {
        var (order, _, note) = try order()
        var fields: Fields = ["kind": "a", "stamp": 1, "sign": "cem"]
        fields[field] = value
        try order.commit(note, in: scope, fields, by: "cem")
        #expect(try order.broken(note, to: "ann") == (isBroken ? .values : nil))
    }

    @Test func `a removed creator who restores the scope breaks I-38 with each row`() throws {
        var (order, room, note) = try order()
        try order.commit(room, in: scope, ["memberIds": ["bob", "cem"], "adminIds": ["bob"]], by: "bob")
        try order.commit(room, in: scope, nil, by: "bob")
        var other = order
        try order.commit(room, in: scope, ["memberIds": ["ann"]], by: "ann")
        #expect(try order.broken(room, to: "ann") == .letIn)
        #expect(try order.broken(note, to: "ann") == .letIn)
        // A user whom a member lets in, also by a restore, is no intruder.
        try other.commit(room, in: scope, ["memberIds": ["bob", "ann"]], by: "bob")
        #expect(try other.broken(note, to: "ann") == nil)
    }
}
