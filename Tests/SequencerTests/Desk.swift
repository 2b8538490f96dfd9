import TidemarkModel
import TidemarkSequencer
import TidemarkStore
import TidemarkWire

/// A workspace for tests: the pure sequencer over tables in memory, without locks or time.
struct Desk {
    static let document = #"""
        {"tidemark": 1, "collections": {
          "rooms": {"scope": "self", "members": "members", "admins": "admins", "delete": ["owner"], "fields": {
            "members": {"type": "set", "merge": "elements", "change": ["member"]},
            "admins": {"type": "set", "merge": "elements"}, "title": "string"}},
          "notes": {"scope": "room", "delete": ["author", "admin"], "fields": {
            "room": {"type": "reference", "to": "rooms", "required": true, "merge": "immutable"},
            "text": {"type": "string", "change": ["author"]}, "likes": {"type": "integer", "merge": "counter"}}},
          "pairs": {"scope": "self", "members": "members", "id": {"name": "pair", "of": ["members"]}, "fields": {
            "members": {"type": "set", "required": true, "merge": "elements"}, "title": "string"}},
          "marks": {"scope": "room", "id": {"name": "marks", "of": ["room", "author"]}, "fields": {
            "room": {"type": "reference", "to": "rooms", "required": true, "merge": "immutable"},
            "seen": {"type": "integer", "merge": "max"}}},
          "goods": {"scope": {"shared": "people"}, "id": {"name": "good", "key": "sku"}, "fields": {
            "sku": {"type": "string", "required": true, "merge": "immutable"}, "name": "string"}},
          "clubs": {"scope": "self", "members": "members", "admins": "admins", "fields": {
            "members": {"type": "set", "required": true, "merge": "elements"},
            "admins": {"type": "set", "merge": "elements", "change": ["admin"]},
            "title": {"type": "string", "change": ["owner"]}}},
          "tickets": {"scope": "room", "fields": {
            "room": {"type": "reference", "to": "clubs", "required": true, "merge": "immutable"},
            "kind": {"type": "string", "merge": "immutable"}, "status": "string",
            "grade": {"type": "integer", "change": ["admin"], "default": 0},
            "stamp": {"type": "integer", "create": ["member"], "change": ["admin"]},
            "best": {"type": "integer", "merge": "max"}, "count": {"type": "integer", "merge": "counter"},
            "seen": {"type": "set", "merge": "set"}, "labels": {"type": "set", "merge": "elements"},
            "plan": {"type": "string", "merge": "manual"}, "sum": {"type": "integer", "merge": "server"},
            "parent": {"type": "reference", "to": "tickets", "within": "scope"},
            "price": {"type": "integer", "minimum": 0},
            "stock": {"type": "integer", "merge": "counter", "minimum": 0},
            "phase": {"type": "string", "initial": ["booked"], "transitions": {
              "booked": ["repairing"], "repairing": ["ready"],
              "ready": ["repairing", {"to": "collected", "by": ["admin"]}],
              "collected": [{"to": "ready", "by": []}]},
              "enum": ["booked", "repairing", "ready", "collected", "cancelled"]}}},
          "posts": {"scope": "room", "mode": "append-only", "delete": ["member"], "fields": {
            "room": {"type": "reference", "to": "clubs", "required": true}, "text": "string"}},
          "slips": {"scope": "room", "fields": {
            "room": {"type": "reference", "to": "clubs", "required": true, "merge": "immutable"}, "text": "string"}},
          "orders": {"scope": "room", "fields": {
            "room": {"type": "reference", "to": "clubs", "required": true, "merge": "immutable"},
            "status": {"type": "string", "required": true}, "seller": {"type": "string", "required": true},
            "total": {"type": "integer", "required": true}, "deposit": {"type": "integer", "default": 0}},
           "rules": [
            {"name": "seller", "on": ["create"], "if": "after.seller == user", "message": "Sell in your own name."},
            {"name": "deposit", "if": "after.deposit <= after.total"},
            {"name": "closed", "on": ["change", "delete"],
             "if": "before.status != 'collected' || role in ['admin', 'owner']"},
            {"name": "notYet", "if": "now >= 1000", "services": true}]},
          "people": {"scope": {"shared": "people"}, "change": ["author"], "fields": {"name": "string"}}}}
        """#
    static let schema: Schema = {
        do {
            return try Schema(json: Array(document.utf8))
        } catch {
            preconditionFailure("the suite's own schema: \(error)")
        }
    }()
    static let workspace = WorkspaceID("w")

    let sequencer: Sequencer
    var tables = MemoryTables()
    var now: Milliseconds = 1_000
    /// The schema in force.
    var schema = Desk.schema
    private var nonce: UInt64 = 0

    init(limits: ModelLimits = ModelLimits(), bounds: PlanLimits = PlanLimits()) {
        sequencer = Sequencer(limits: limits, bounds: bounds)
    }

    /// The same workspace under other bounds.
    func bounded(by bounds: PlanLimits) -> Desk {
        var desk = Desk(limits: sequencer.limits, bounds: bounds)
        (desk.tables, desk.now, desk.nonce) = (tables, now, nonce)
        return desk
    }

    static func id(_ number: UInt64) -> UniqueID { UniqueID(high: 0, low: number) }

    static func mutation(_ collection: String, _ id: UInt64, _ action: Mutation.Action) -> Mutation {
        Mutation(key: RecordKey(collection: collection, id: Self.id(id)), action: action)
    }

    mutating func register(_ client: UInt64, _ user: String) throws {
        _ = tables.register(Self.id(client), for: UserID(user), in: Self.workspace, now: now)
    }

    func submission(
        _ client: UInt64, _ user: String, first: Int64, connection: Int64 = 1, acked: Int64 = 0,
        isService: Bool = false,
        _ transactions: [(id: UInt64, mutations: [Mutation])]
    ) -> Submission {
        let principal = Principal(user: UserID(user), isService: isService)
        let admission = Admission(schema: schema, limits: ModelLimits())
        let entries = transactions.map { transaction in
            admission.admit(
                Push.Entry(Transaction(id: Self.id(transaction.id), mutations: transaction.mutations, clientTime: 0)),
                from: principal)
        }
        return Submission(
            client: Self.id(client), principal: principal, connection: connection, ackedThrough: acked, first: first,
            entries: entries, bytes: 100)
    }

    /// Plans and writes one batch.
    @discardableResult
    mutating func sequence(_ submissions: [Submission]) throws -> Plan {
        nonce += 1
        let base = tables.read(sequencer.reads(for: submissions), in: Self.workspace)
        let plan = sequencer.plan(submissions, on: base, now: now, nonce: nonce)
        if let batch = plan.batch { try tables.write(batch, in: Self.workspace) }
        return plan
    }

    /// Settles one transaction of one client as a batch of its own, and returns its refusal, if any.
    mutating func settle(
        _ client: UInt64, _ user: String, _ number: Int64, isService: Bool = false, _ mutations: Mutation...
    ) throws -> RejectionCode? {
        try settle(client, user, number, isService: isService, mutations: mutations)
    }

    /// Settles any number of mutations likewise.
    mutating func settle(
        _ client: UInt64, _ user: String, _ number: Int64, isService: Bool = false, mutations: [Mutation]
    ) throws -> RejectionCode? {
        let transaction = (id: client * 1_000 + UInt64(number), mutations: mutations)
        let planned = try sequence([submission(client, user, first: number, isService: isService, [transaction])])
        return planned.outcomes.first?.firstRefusal
    }
}

extension PushOutcome {
    /// The refusal of each entry; `nil` for one that took effect.
    var refusals: [RejectionCode?] {
        if case .settled(_, let results) = self { results.map(\.rejection?.code) } else { [.internalRejected] }
    }

    /// The refusal of the first entry; `internalRejected` when the submission was not settled at all.
    var firstRefusal: RejectionCode? {
        guard case .settled(_, let results) = self else { return .internalRejected }
        return results.first?.rejection?.code
    }
}
