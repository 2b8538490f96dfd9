import HTTPTypes
import TidemarkHub
import TidemarkModel
import TidemarkNode
import TidemarkSequencer
import TidemarkStore
import TidemarkWire

/// Tries the rules out: may this user make this write?
extension API {
    /// `POST /admin/v1/may`: judges a write by the code that judges every write, on the present state. Nothing is
    /// written or locked: a write in the meantime may change the outcome.
    func adminMay(_ bytes: [UInt8]) async throws -> Fields {
        let call: MayCall
        do {
            call = try MayCall(decoding: bytes)
        } catch {
            throw APIError(.badRequest, "invalid", "may: \(error)")
        }
        let principal = Principal(user: call.user, isService: call.isService)
        let (time, client) = (node.now(), UniqueID(high: 0, low: 1))
        let transaction = Transaction(
            id: UniqueID(high: 0, low: 1), mutations: [call.mutation], clientTime: time, ifSeq: call.ifSeq)
        let entry = node.context.admission.admit(Push.Entry(transaction), from: principal)
        let submission = Submission(
            client: client, principal: principal, connection: 1, ackedThrough: 0, first: 1,
            entries: [entry], bytes: bytes.count)
        let sequencer = Sequencer(limits: node.context.limits.model, bounds: node.parts.laneLimits.plan)
        let reads = sequencer.reads(for: [submission])
        let base = try await state(for: call, client: client, reading: reads.lookingAtBirths, in: call.workspace)
        let plan = sequencer.plan([submission], on: base, now: time, nonce: 1)
        guard case .settled(_, let results)? = plan.outcomes.first, let result = results.first else {
            throw APIError(.internalServerError, "internal_rejected", "may: the write was not judged")
        }
        var answer: Fields = ["may": .boolean(result.rejection == nil), "head": .integer(base.head.seq)]
        answer.put("code", result.rejection?.code.rawValue)
        answer.put("msg", result.rejection?.message)
        let name = "\(call.user)\(call.isService ? " (a service)" : "")"
        answer.put(
            "sentence",
            result.rejection.map {
                "\(name) may not \(call.verb) \(call.mutation.key): \($0.code.rawValue), \($0.message)."
            }
                ?? "\(name) may \(call.verb) \(call.mutation.key).")
        if let record = plan.batch?.records.first(where: { $0.key.id == call.mutation.key.id }), !record.isDeleted {
            answer["would_be"] = .object(record.readFields)
        }
        return answer
    }

    /// Reads the state that the plan needs, without a lock.
    private func state(
        for call: MayCall, client: ClientID, reading reads: ReadSet, in workspace: WorkspaceID
    ) async throws -> OrderState {
        let snapshot = try await node.store.session(for: call.user, client: nil, in: workspace)
        var state = OrderState(head: snapshot.head)
        state.clients[client] = StoredClient(row: ClientRow(id: client, user: call.user))
        for id in Set(reads.records.map(\.id)).sorted() {
            for record in try await records(RecordName(id), in: workspace) { state.records[record.key] = record }
        }
        for grant in snapshot.grants { state.grants[Seat(user: call.user, scope: grant.scope)] = grant }
        return state
    }
}

extension RecordName {
    fileprivate init(_ id: LocalID) {
        self.id = id
        collection = nil
    }
}

/// `{"workspace","user","action":"create|update|delete|undelete","collection","record","fields":{…}}`, optionally with
/// `"service":true` and `"if_seq":N`. An update sets its fields, and removes those that are `null`.
struct MayCall {
    var workspace: WorkspaceID
    var user: UserID
    var mutation: Mutation
    var isService = false
    var ifSeq: SequenceNumber?
    /// The action's name.
    var verb: String
}

extension MayCall {
    init(decoding bytes: [UInt8]) throws {
        self = try JSONReader.read(bytes) { reader in
            var names: [String: String] = [:]
            var (fields, isService, ifSeq) = (Fields(), false, SequenceNumber?.none)
            try reader.object { reader, key in
                switch key {
                case "workspace", "user", "action", "collection", "record": names[key] = try reader.string()
                case "fields": fields = try reader.fields()
                case "service": isService = try reader.boolean()
                case "if_seq": ifSeq = try reader.integer()
                default: throw reader.failure("unknown member \"\(key.excerpt())\"")
                }
            }
            guard let workspace = names["workspace"].flatMap(WorkspaceID.init(checking:)),
                let user = names["user"].flatMap(UserID.init(checking:)), let collection = names["collection"],
                let id = names["record"].flatMap({ UniqueID($0) }), let verb = names["action"]
            else { throw reader.failure("workspace, user, action, collection and record are required") }
            guard let action = Self.action(verb, fields) else {
                throw reader.failure("\"action\" is create, update, delete or undelete")
            }
            let mutation = Mutation(key: RecordKey(collection: collection, id: id), action: action)
            return MayCall(
                workspace: workspace, user: user, mutation: mutation, isService: isService, ifSeq: ifSeq, verb: verb)
        }
    }

    private static func action(_ verb: String, _ fields: Fields) -> Mutation.Action? {
        switch verb {
        case "create": .create(fields)
        case "undelete": .undelete(fields)
        case "delete": .delete
        case "update": .update(fields.entries.map { NamedPatch($0.name, $0.value == .null ? .unset : .set($0.value)) })
        default: nil
        }
    }
}
