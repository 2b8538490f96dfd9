import Foundation
import Testing
import Tidemark
import TidemarkModel
import TidemarkTestKit

/// A device and the server judge constraints alike, and a refused step is parked with its reason (R-156).
@Suite(.timeLimit(.minutes(5))) struct ConstraintAgreementTests {
    private static let schema = """
        {"tidemark": 1, "name": "test", "collections": {
          "rooms": {"scope": "self", "members": "people", "admins": "chiefs", "fields": {
            "people": {"type": "set", "required": true, "merge": "elements"},
            "chiefs": {"type": "set", "merge": "elements"}}},
          "jobs": {"scope": "room", "fields": {
            "room": {"type": "reference", "required": true, "merge": "immutable", "to": "rooms"},
            "code": {"type": "string", "pattern": "^[A-Z]+$"}, "price": {"type": "integer", "minimum": 0, "maximum": 9},
            "tags": {"type": "set", "merge": "elements", "maxItems": 3, "items": {"enum": ["a", "b", "c", "d"]}},
            "phase": {"type": "string", "required": true, "initial": ["open"],
              "transitions": {"open": ["busy", "dropped"], "busy": ["done"], "done": [{"to": "busy", "by": ["admin"]}]}}}}
        }}
        """

    private let room = RecordKey(collection: "rooms", id: UniqueID(high: 1, low: 1))

    private func job(_ number: UInt64) -> RecordKey {
        RecordKey(collection: "jobs", id: UniqueID(high: 2, low: number))
    }

    private func kit() async throws -> (TestKit, ann: TestClient, cem: TestClient) {
        let kit = try TestKit(schema: try Schema(json: Array(Self.schema.utf8)))
        let ann = try await kit.client("ann")
        let people: Fields = ["people": ["ann", "cem"], "chiefs": ["ann"]]
        let home: Fields = ["room": .string(room.id.description), "phase": "open"]
        try await ann.store.write { [room] batch in
            batch.apply(Mutation(key: room, action: .create(people)))
            batch.apply(Mutation(key: job(1), action: .create(home)))
        }
        try await kit.settle()
        let cem = try await kit.client("cem")
        try await kit.settle()
        return (kit, ann, cem)
    }

    private func patch(_ field: String, _ patch: FieldPatch) -> Mutation {
        Mutation(key: job(1), action: .update([NamedPatch(field, patch)]))
    }

    @Test func `of two steps that were taken offline from one value, the second is parked with its reason`()
        async throws
    {
        let (kit, ann, cem) = try await kit()
        ann.goOffline()
        cem.goOffline()
        try await ann.store.write { $0.apply(patch("phase", .set("busy"))) }
        try await cem.store.write { $0.apply(patch("phase", .set("dropped"))) }
        ann.goOnline()
        try await kit.settle()
        cem.goOnline()
        try await kit.settle()
        let parked = try await cem.store.outbox.rejected()
        #expect(parked.map(\.rejection.code) == [.invalid])
        #expect(
            parked.first?.rejection.message == #"jobs.phase: cannot change from "busy" to "dropped", only to "done""#)
        let shown = try await cem.store.read { try $0.rows("SELECT phase FROM jobs WHERE phase = 'busy'").count }
        #expect(shown == 1)
        for write in parked { try await write.discard() }
        try await kit.settle()
        try kit.expectConverged()
    }

    /// Random writes of a member, each judged on the device and by the server on the same state.
    @Test func `random writes are refused on the device exactly if the server refuses them`() async throws {
        let (kit, _, cem) = try await kit()
        var random = Draw(state: 44)
        var counts = (accepted: 0, refused: 0)
        for number in 0..<160 {
            let mutation = mutation(&random)
            var here: String?
            do {
                try await cem.store.write { $0.apply(mutation) }
            } catch let error as StoreError {
                here = error.message
                let id = UniqueID(high: 9, low: UInt64(number))
                try cem.store.database.write(Transaction(id: id, mutations: [mutation], clientTime: 1))
                try await cem.store.outbox.retryStalled()
            }
            try await kit.settle()
            let parked = try await cem.store.outbox.rejected()
            #expect((here != nil) == !parked.isEmpty, "\(mutation): \(here ?? "accepted here")")
            if here != nil { counts.refused += 1 } else { counts.accepted += 1 }
            for write in parked { try await write.discard() }
        }
        #expect(counts.accepted > 30 && counts.refused > 30, "\(counts)")
        try await kit.settle()
        try kit.expectConverged()
    }

    private func mutation(_ random: inout Draw) -> Mutation {
        let tag = { (random: inout Draw) in FieldValue.string(["a", "b", "c", "d", "e"][Int(random.next() % 5)]) }
        switch random.next() % 5 {
        case 0: return patch("price", .set(.integer(Int64(random.next() % 14) - 2)))
        case 1: return patch("code", .set(.string(["A", "AB", "a", "", "A1"][Int(random.next() % 5)])))
        case 2: return patch("tags", random.next() % 3 == 0 ? .remove([tag(&random)]) : .add([tag(&random)]))
        default:
            return patch("phase", .set(.string(["open", "busy", "done", "dropped", "lost"][Int(random.next() % 5)])))
        }
    }

    /// A linear congruential generator.
    private struct Draw {
        var state: UInt64

        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state >> 33
        }
    }
}
