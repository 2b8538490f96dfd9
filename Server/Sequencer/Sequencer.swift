package import TidemarkModel
package import TidemarkStore

/// The one writer of a workspace, as pure functions: which state a group of submissions needs, and what becomes of them.
///
/// The same code runs over PostgreSQL, over SQLite and in the simulator; time and nonce come in as arguments. It knows no
/// schema: each transaction brings what it needs of the one that it was admitted under, so that a schema may change between
/// two transactions of one batch, and never in the middle of one.
package struct Sequencer: Sendable {
    package let limits: ModelLimits
    let bounds: PlanLimits

    package init(limits: ModelLimits, bounds: PlanLimits = PlanLimits()) {
        self.bounds = bounds
        self.limits = limits
    }

    /// What `plan` will look at.
    package func reads(for submissions: [Submission]) -> ReadSet {
        var reads = ReadSet()
        reads.clients.reserveCapacity(submissions.count)
        var asked = AskedKeys(expecting: submissions.count)
        for submission in submissions {
            reads.clients.append(submission.client)
            let user = submission.principal.user
            for entry in submission.entries {
                guard case .success(let steps) = entry.steps else { continue }
                for step in steps { asked.note(step, by: user, in: &reads) }
            }
        }
        return reads
    }

    /// Decides a group of submissions in their order.
    ///
    /// - Parameters:
    ///   - base: everything that ``reads(for:)`` asks for. It may hold more.
    ///   - refusing: refuse every entry as `internal_rejected`: the last resort for one that the store cannot take.
    package func plan(
        _ submissions: [Submission], on base: OrderState, now: Milliseconds, nonce: UInt64, refusing: Bool = false
    ) -> Plan {
        var planner = BatchPlanner(
            sequencer: self, base: base, expecting: submissions.count, now: now, nonce: nonce, refusing: refusing)
        var left: [Int: Submission] = [:]
        let outcomes = submissions.enumerated().map { index, submission in
            let part = planner.settle(submission)
            if let rest = part.left { left[index] = rest }
            return part.outcome
        }
        return Plan(batch: planner.finish(), outcomes: outcomes, left: left, hasMissed: planner.hasMissed)
    }
}

/// A stretch of one client's numbered transactions on its way to the order.
package struct Submission: Sendable {
    package var client: ClientID
    package var principal: Principal
    /// The connection counter of the push.
    package var connection: Int64
    package var ackedThrough: Int64
    /// The number of the first entry; the others follow without gaps.
    package var first: Int64
    package var entries: [AdmittedEntry]
    /// Bytes on the wire, for the batch bound.
    package var bytes: Int
    /// The last piece of the push that it comes from.
    package var isLast: Bool
    /// Name and version of the app, for the ledger.
    package var app: String?

    package init(
        client: ClientID, principal: Principal, connection: Int64, ackedThrough: Int64, first: Int64,
        entries: [AdmittedEntry], bytes: Int, isLast: Bool = true, app: String? = nil
    ) {
        self.client = client
        self.principal = principal
        self.connection = connection
        self.ackedThrough = ackedThrough
        self.first = first
        self.entries = entries
        self.bytes = bytes
        self.isLast = isLast
        self.app = app
    }

    /// The number that the push ends with which it comes from; `nil` for a piece that others follow.
    package var pushEnd: Int64? { isLast ? first + Int64(entries.count) - 1 : nil }

    /// Mutations in all entries.
    var mutations: Int { entries.reduce(0) { $0 + $1.mutations } }

    /// What is left of it without its first entries.
    func dropping(_ count: Int) -> Submission {
        var rest = self
        rest.first += Int64(count)
        rest.entries.removeFirst(min(count, entries.count))
        rest.bytes = entries.isEmpty ? 0 : bytes * rest.entries.count / entries.count
        return rest
    }

    /// The entries one by one, so that a poisonous one can be found.
    var singles: [Submission] {
        entries.enumerated().map { offset, entry in
            var single = self
            single.first = first + Int64(offset)
            single.entries = [entry]
            return single
        }
    }
}

/// A transaction that passed every check that needs no state, or the reason why it cannot pass.
package struct AdmittedEntry: Sendable {
    /// The transaction's id; all zeros when it could not be read.
    package var id: TransactionID
    package var ifSeq: SequenceNumber?
    package var steps: Result<[Step], Rejection>
    /// The scopes that everybody sees, by the schema that it was admitted under.
    var sharedScopes: Set<ScopeID>

    package init(
        id: TransactionID, ifSeq: SequenceNumber?, steps: Result<[Step], Rejection>, sharedScopes: Set<ScopeID> = []
    ) {
        self.id = id
        self.ifSeq = ifSeq
        self.steps = steps
        self.sharedScopes = sharedScopes
    }

    /// Mutations that it would carry out.
    package var mutations: Int { if case .success(let steps) = steps { steps.count } else { 0 } }
}

/// One mutation, checked against the schema and encoded as far as that needs no state.
package struct Step: Sendable {
    /// What is done, with everything encoded that needs no state.
    package enum Action: Sendable {
        case create(Fields, body: [UInt8], scope: ScopeID)
        case update([NamedPatch])
        case delete
        /// `null` for fields that are removed.
        case undelete(Fields, scope: ScopeID)
    }

    package var key: RecordKey
    package var collection: CollectionSchema
    package var action: Action

    /// The records that must be in the scope of the one that the step writes.
    var namedWithin: [RecordKey] {
        let references = collection.innerReferences
        guard !references.isEmpty else { return [] }
        return references.compactMap { field in
            guard let target = field.target, case .string(let text)? = written(field), let id = UniqueID(text) else {
                return nil
            }
            return RecordKey(collection: target, id: id)
        }
    }

    private func written(_ field: FieldSchema) -> FieldValue? {
        switch action {
        case .create(let fields, _, _), .undelete(let fields, _): return fields[field.name]
        case .delete: return nil
        case .update(let patches):
            let patch = patches.first { collection.field($0.field)?.name == field.name }?.patch
            return if case .set(let value)? = patch { value } else { nil }
        }
    }
}

/// What became of one submission.
package enum PushOutcome: Hashable, Sendable {
    /// Every entry is settled, now or earlier; the results are those of its entries.
    case settled(through: Int64, results: [TransactionOutcome])
    /// Entries are missing before it; nothing from the gap on was looked at.
    case gap(settledThrough: Int64)
    /// A ghost of a dead connection: dropped.
    case stale
    /// A number came back with other content: two installs share the client id.
    case forked
    /// The client is not registered for this user.
    case unknownClient
    /// The store could not be reached in time; nothing was decided, or not all of it.
    case unavailable
    /// The workspace's queue is full, or the client has left too many outcomes unacknowledged; nothing new was settled.
    case overloaded
}

extension PushOutcome {
    /// Every entry got its number's outcome.
    package var isSettled: Bool {
        if case .settled = self { true } else { false }
    }

    /// The outcome of a push whose later part came out as `next`: results are joined until one part is not settled.
    package func followed(by next: PushOutcome) -> PushOutcome {
        guard case .settled(_, let results) = self else { return self }
        guard case .settled(let through, let more) = next else { return next }
        return .settled(through: through, results: results + more)
    }
}
