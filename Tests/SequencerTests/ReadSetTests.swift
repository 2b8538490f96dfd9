import Testing
import TidemarkModel
import TidemarkSequencer
import TidemarkStore

/// The state that a group of submissions requests from the store.
@Suite struct `What a group reads` {
    private static let room = Desk.id(7)

    private func note(_ id: UInt64, by user: String, isNew: Bool, client: UInt64 = 1, first: Int64 = 1) -> Submission {
        let action: Mutation.Action =
            isNew
            ? .create(["room": .string(Self.room.description)]) : .update([NamedPatch("likes", .increment(1))])
        let mutations = [Desk.mutation("notes", id, action)]
        return Desk().submission(client, user, first: first, [(id: id, mutations: mutations)])
    }

    private func pair(_ user: String, _ id: UInt64) -> ReadSet.RecordSeat {
        .init(user: UserID(user), record: RecordKey(collection: "notes", id: Desk.id(id)))
    }

    @Test func `a record that a group creates is a birth, once for each user who writes it`() {
        let reads = Desk().sequencer.reads(for: [
            note(1, by: "ann", isNew: true), note(1, by: "ann", isNew: false, first: 2),
            note(1, by: "ann", isNew: true, first: 3), note(1, by: "bob", isNew: true, client: 2),
            note(1, by: "bob", isNew: false, client: 2, first: 2), note(1, by: "ann", isNew: false, first: 4),
        ])
        #expect(reads.births == [pair("ann", 1), pair("bob", 1)])
        #expect(reads.records.isEmpty && reads.recordSeats.isEmpty)
        let seats = ["ann", "bob"].map { Seat(user: UserID($0), scope: ScopeID(record: Self.room)) }
        #expect(reads.seats == seats)
    }

    @Test func `a record that is changed before its creation is read, once for each user`() {
        let reads = Desk().sequencer.reads(for: [
            note(1, by: "bob", isNew: false), note(1, by: "bob", isNew: true, first: 2),
            note(1, by: "ann", isNew: true, client: 2), note(1, by: "ann", isNew: false, client: 2, first: 2),
        ])
        #expect(reads.births.isEmpty)
        #expect(reads.records == [RecordKey(collection: "notes", id: Desk.id(1))])
        #expect(reads.recordSeats == [pair("bob", 1), pair("ann", 1)])
    }
}
