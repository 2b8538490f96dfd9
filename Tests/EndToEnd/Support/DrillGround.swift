import Foundation
import Tidemark
import TidemarkLock
import TidemarkModel

@testable import TidemarkCommandLine
@testable import TidemarkTerminal

/// The writes of a drill's clients: notes in one room, each counted by its writer's tally in the same transaction.
final class DrillGround: Sendable {
    static let schema = """
        {"tidemark": 1, "name": "drill", "collections": {
          "rooms": {"scope": "self", "members": "people", "fields": {
            "people": {"type": "set", "required": true, "merge": "elements"}}},
          "notes": {"scope": "room", "fields": {
            "room": {"type": "reference", "required": true, "merge": "immutable", "to": "rooms"},
            "text": "string", "round": "integer"}},
          "tallies": {"scope": "room", "fields": {
            "room": {"type": "reference", "required": true, "merge": "immutable", "to": "rooms"},
            "name": "string", "count": {"type": "integer", "merge": "counter"}}}
        }}
        """

    struct Room: SyncModel {
        static let collection = "rooms"
        var id = UUID()
        var people: Set<String>
    }

    struct Note: SyncModel {
        static let collection = "notes"
        var id = UUID()
        var room: UUID
        var text: String?
        var round: Int?
    }

    struct Tally: SyncModel {
        static let collection = "tallies"
        var id = UUID()
        var room: UUID
        var name: String?
        var count: Int
    }

    let room = LoadTarget.newClient()
    private let state = Lock((isWriting: false, round: 0, number: 0))

    /// True while clients write.
    var isWriting: Bool {
        get { state.withLock { $0.isWriting } }
        set { state.withLock { $0.isWriting = newValue } }
    }

    var round: Int {
        get { state.withLock { $0.round } }
        set { state.withLock { $0.round = newValue } }
    }

    /// A text that no other client writes.
    func text(by name: String) -> String {
        state.withLock { state in
            state.number += 1
            return "\(name) \(state.number)"
        }
    }

    /// Creates the room with all users in it, and a tally for each.
    func opening(_ tallies: [String: LocalID]) -> [Mutation] {
        let people = FieldValue.array(tallies.keys.sorted().map { .string($0) })
        let opening = Mutation(key: RecordKey(collection: "rooms", id: room), action: .create(["people": people]))
        return [opening]
            + tallies.sorted { $0.key < $1.key }.map { name, id in
                let fields: Fields = ["room": .string(room.description), "name": .string(name), "count": 0]
                return Mutation(key: RecordKey(collection: "tallies", id: id), action: .create(fields))
            }
    }

    /// Creates a note of the present round, and counts it in the tally.
    func note(by name: String, tally: LocalID) -> (text: String, transaction: Transaction) {
        let text = text(by: name)
        let fields: Fields = [
            "room": .string(room.description), "text": .string(text), "round": .integer(Int64(round)),
        ]
        let note = Mutation(
            key: RecordKey(collection: "notes", id: LoadTarget.newClient()), action: .create(fields))
        let count = Mutation(
            key: RecordKey(collection: "tallies", id: tally), action: .update([NamedPatch("count", .increment(1))]))
        return (text, Transaction(id: LoadTarget.newClient(), mutations: [note, count], clientTime: wallClock()))
    }
}
