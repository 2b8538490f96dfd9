package import TidemarkModel
package import TidemarkStore

/// The one writer of a workspace, as pure functions: the state that a group of submissions needs, and its plan.
///
/// The same code runs over PostgreSQL, over SQLite and in the simulator; time and nonce are arguments. It knows no
/// schema: each transaction carries what it needs of the schema that admitted it. So a schema may change between two
/// transactions of one batch, but never within one.
package struct Sequencer: Sendable {
    package let limits: ModelLimits
    let bounds: PlanLimits

    package init(limits: ModelLimits, bounds: PlanLimits = PlanLimits()) {
        self.bounds = bounds
        self.limits = limits
    }

    /// Returns what `plan` will read.
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
    ///   - refusing: whether to refuse every entry as `internal_rejected`: the last resort for one that the store
    ///     refuses.
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

/// A stretch of one client's numbered transactions to be sequenced.
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
    /// True for the last piece of its push.
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

    /// The number with which its push ends; `nil` for a piece that others follow.
    package var pushEnd: Int64? { isLast ? first + Int64(entries.count) - 1 : nil }

    /// The number of mutations in all entries.
    var mutations: Int { entries.reduce(0) { $0 + $1.mutations } }

    /// Returns the submission without its first entries.
    func dropping(_ count: Int) -> Submission {
        var rest = self
        rest.first += Int64(count)
        rest.entries.removeFirst(min(count, entries.count))
        rest.bytes = entries.isEmpty ? 0 : bytes * rest.entries.count / entries.count
        return rest
    }

    /// The entries one by one, so that the one that fails can be found.
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
    /// The scopes visible to everyone, by the schema that admitted the transaction.
    var sharedScopes: Set<ScopeID>

    package init(
        id: TransactionID, ifSeq: SequenceNumber?, steps: Result<[Step], Rejection>, sharedScopes: Set<ScopeID> = []
    ) {
        self.id = id
        self.ifSeq = ifSeq
        self.steps = steps
        self.sharedScopes = sharedScopes
    }

    /// The number of mutations that it would carry out.
    package var mutations: Int { if case .success(let steps) = steps { steps.count } else { 0 } }
}

/// One mutation, checked against the schema and encoded as far as possible without state.
package struct Step: Sendable {
    /// The action of a step, with everything encoded that needs no state.
    package enum Action: Sendable {
        case create(Fields, body: [UInt8], scope: ScopeID)
        case update([NamedPatch])
        case delete
        /// Fields to remove are `null`.
        case undelete(Fields, scope: ScopeID)
    }

    package var key: RecordKey
    package var collection: CollectionSchema
    package var action: Action

    /// The records that must be in the scope of the record that the step writes.
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

/// The outcome of one submission.
package enum PushOutcome: Hashable, Sendable {
    /// Every entry is settled, now or earlier; the results are those of its entries.
    case settled(through: Int64, results: [TransactionOutcome])
    /// Entries are missing before it; nothing after the gap was processed.
    case gap(settledThrough: Int64)
    /// A push of a dead connection: dropped.
    case stale
    /// A number came again with other content: two installs share the client id.
    case forked
    /// The client is not registered for this user.
    case unknownClient
    /// The store could not be reached in time; nothing was decided, or not all of it.
    case unavailable
    /// The workspace's queue is full, or the client has too many unacknowledged outcomes; nothing new was settled.
    case overloaded
}

extension PushOutcome {
    /// True when every entry is settled.
    package var isSettled: Bool {
        if case .settled = self { true } else { false }
    }

    /// Returns the joint outcome of a push whose next part has the outcome `next`: results are joined until a part is
    /// not settled.
    package func followed(by next: PushOutcome) -> PushOutcome {
        guard case .settled(_, let results) = self else { return self }
        guard case .settled(let through, let more) = next else { return next }
        return .settled(through: through, results: results + more)
    }
}
