import Testing
import TidemarkModel
import TidemarkSequencer
import TidemarkStore
import TidemarkWire

/// A store with the sequencer: each transaction is a batch of its own, judged as a server judges it.
struct Registry: Sendable {
    static func schema() throws -> Schema {
        let json = #"""
            {"tidemark": 1, "collections": {
              "rooms": {"scope": "self", "members": "members", "admins": "admins", "fields": {
                "members": {"type": "set", "merge": "elements"}, "admins": {"type": "set", "merge": "elements"},
                "title": "string"}},
              "notes": {"scope": "room", "create": ["admin"], "fields": {
                "room": {"type": "string", "required": true, "merge": "immutable"}, "data": "json"}}}}
            """#
        return try Schema(json: Array(json.utf8))
    }

    let under: StoreUnderTest
    private let sequencer: Sequencer
    private let admission: Admission

    init(_ under: StoreUnderTest) throws {
        self.under = under
        let schema = try Self.schema()
        sequencer = Sequencer(limits: ModelLimits())
        admission = Admission(schema: schema, limits: ModelLimits())
    }

    /// The client of a user, with an id made of the number.
    func client(_ number: Int64, of user: UserID) async throws -> Client {
        let row = try await under.register(.numbered(number), for: user)
        return Client(registry: self, row: row)
    }

    /// One user's device.
    struct Client: Sendable {
        let registry: Registry
        let row: ClientRow

        /// Settles one transaction and returns its refusal, if any.
        func push(_ number: Int64, _ mutations: Mutation...) async throws -> RejectionCode? {
            let low = row.id.low &* 1_000 &+ UInt64(bitPattern: number)
            let transaction = Transaction(id: UniqueID(high: 7, low: low), mutations: mutations, clientTime: 0)
            let principal = Principal(user: row.user)
            let submission = Submission(
                client: row.id, principal: principal, connection: 1, ackedThrough: 0, first: number,
                entries: [registry.admission.admit(Push.Entry(transaction), from: principal)], bytes: 100)
            guard case .settled(_, let results)? = try await registry.settle(submission).first,
                let result = results.first
            else { throw StoreError(.data, "not settled") }
            return result.rejection?.code
        }
    }

    /// Plans and commits one submission by itself.
    private func settle(_ submission: Submission) async throws -> [PushOutcome] {
        while true {
            let reading = try await under.store.read(sequencer.reads(for: [submission]), in: under.workspace)
            let plan = sequencer.plan(
                [submission], on: reading.state, now: 1_000, nonce: UInt64.random(in: 0...UInt64.max >> 1))
            guard let batch = plan.batch else {
                await reading.turn?.end()
                return plan.outcomes
            }
            if try await under.commit(batch, on: reading) != nil { return plan.outcomes }
        }
    }

    /// The stored grants of a user.
    func grants(_ user: UserID) async throws -> [Grant] {
        try await under.store.session(for: user, client: nil, in: under.workspace).grants
    }

    /// The stored fields of a record.
    func fields(_ collection: String, _ id: Int64) async throws -> Fields? {
        var reads = ReadSet()
        reads.records = [RecordKey(collection: collection, id: .numbered(id))]
        guard let record = try await under.read(reads).records.values.first else { return nil }
        return try JSONReader.read(record.body) { try $0.fields() }
    }
}

extension Mutation {
    static func room(_ id: Int64, _ fields: Fields) -> Mutation {
        Mutation(key: RecordKey(collection: "rooms", id: .numbered(id)), action: .create(fields))
    }

    static func room(_ id: Int64, _ patches: NamedPatch...) -> Mutation {
        Mutation(key: RecordKey(collection: "rooms", id: .numbered(id)), action: .update(patches))
    }

    static func note(_ id: Int64, in room: Int64, _ data: FieldValue = .null) -> Mutation {
        let fields: Fields = ["room": .string(LocalID.numbered(room).description), "data": data]
        return Mutation(key: RecordKey(collection: "notes", id: .numbered(id)), action: .create(fields))
    }
}
