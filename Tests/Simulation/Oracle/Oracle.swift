import TidemarkModel
import TidemarkStore

/// The state that the server must have: an independent fold of the accepted transactions, in the order of their
/// commits.
///
/// It knows the transactions that apps wrote, not the server's result, and receives each batch at its commit point.
struct Oracle {
    /// A transaction as its device wrote it.
    struct Written {
        let transaction: Transaction
        let user: UserID
        /// The number up to which the device had applied the order when it wrote.
        let after: SequenceNumber
    }

    private(set) var head = Head.start
    /// Every batch, in order.
    private(set) var batches: [CommittedBatch] = []
    private(set) var state: OracleState
    /// The checks that use none of the product's rules.
    private(set) var rights = Rights()
    private(set) var accepted: Set<TransactionID> = []
    private(set) var refused: Set<TransactionID> = []
    /// Accepted transactions that the database has lost.
    private(set) var lost: Set<TransactionID> = []
    /// Transactions that were settled without, or refused because of, fields that others had changed: their devices may
    /// have parked them.
    private(set) var contested: Set<TransactionID> = []
    /// True when a device has taken another client id.
    var hasForked = false
    private var written: [TransactionID: Written] = [:]
    private var settledThrough: [ClientID: Int64] = [:]
    private var connections: [ClientID: Int64] = [:]

    init(schema: Schema, limits: ModelLimits) { state = OracleState(schema: schema, limits: limits) }

    /// The head of the batch that contains this number; `nil` when the number was never given.
    func batch(holding seq: SequenceNumber) -> Head? { batches.last { $0.low <= seq && seq <= $0.head.seq }?.head }

    mutating func wrote(_ transaction: Transaction, by user: UserID, after: SequenceNumber) {
        if written[transaction.id] == nil {
            written[transaction.id] = Written(transaction: transaction, user: user, after: after)
        }
    }

    /// Folds one committed batch in, and compares everything that the batch contains.
    mutating func committed(
        _ batch: CommittedBatch, from steps: [SubmittedStep], poison: Set<TransactionID>
    ) throws(Violation) {
        try check(batch.low == head.seq + 1 && batch.head.seq >= batch.low, .tiling, "\(batch.low) after \(head.seq)")
        try check(batch.head.time >= head.time, .time, "\(batch.head.time) after \(head.time)")
        try check(
            batch.head.epoch == head.epoch || (batch.head.epoch > head.epoch && steps.isEmpty), .epochs,
            "\(batch.head.epoch) after \(head.epoch)")
        var results: [ClientID: [Int64: TransactionOutcome]] = [:]
        var resultCount = 0
        for settlement in batch.settlements {
            for result in settlement.results {
                results[settlement.client.id, default: [:]][result.number] = result
                resultCount += 1
            }
        }
        state.begin(batch.low, time: batch.head.time)
        var judged = 0
        for step in steps {
            // Repetitions, entries after a gap, and late messages of older connections have no effect.
            guard step.number == settledThrough[step.client, default: 0] + 1,
                step.connection >= connections[step.client, default: 0]
            else { continue }
            guard let result = results[step.client]?[step.number] else {
                // The client is not registered.
                continue
            }
            judged += 1
            settledThrough[step.client] = step.number
            connections[step.client] = step.connection
            try judge(step, result, poison)
        }
        try check(judged == resultCount, .clientOrder, "\(resultCount) results for \(judged) transactions in order")
        for settlement in batch.settlements {
            let own = settledThrough[settlement.client.id, default: 0]
            try check(settlement.client.settledThrough == own, .clientOrder, "settled through \(own)")
        }
        try check(max(state.last, batch.low) == batch.head.seq, .tiling, "ends at \(state.last)")
        try state.compare(with: batch)
        do {
            try rights.committed(batch, by: writers(steps, results))
        } catch {
            throw Violation(invariant: .merge, message: "a body of batch \(batch.low) cannot be parsed: \(error)")
        }
        head = batch.head
        batches.append(batch)
    }

    /// A scope was erased: a batch of the server's own ended its memberships, and all that belonged to it is deleted.
    mutating func erased(_ scope: ScopeID, by batch: CommittedBatch) throws(Violation) {
        try check(batch.low == head.seq + 1, .tiling, "\(batch.low) after \(head.seq)")
        state.erase(scope, by: batch)
        rights.erased(scope)
        head = batch.head
        batches.append(batch)
    }

    /// The database has compacted itself.
    mutating func compacted(through horizon: SequenceNumber) { state.forget(through: horizon) }

    /// The database went back: the transactions accepted since are lost; devices still have what they wrote.
    mutating func goBack(to earlier: Oracle) {
        let present = self
        self = earlier
        lost = present.lost.union(present.accepted).subtracting(earlier.accepted)
        hasForked = present.hasForked
        contested.formUnion(present.contested)
        written = present.written.mapValues {
            Written(transaction: $0.transaction, user: $0.user, after: min($0.after, earlier.head.seq))
        }
    }

    /// The users whose accepted transactions of the batch write each record, as their devices wrote them.
    private func writers(
        _ steps: [SubmittedStep], _ results: [ClientID: [Int64: TransactionOutcome]]
    ) -> [RecordKey: Set<UserID>] {
        var writers: [RecordKey: Set<UserID>] = [:]
        for step in steps {
            guard let result = results[step.client]?[step.number], result.rejection == nil,
                result.transaction == step.transaction, let written = written[step.transaction]
            else { continue }
            for mutation in written.transaction.mutations { writers[mutation.key, default: []].insert(written.user) }
        }
        return writers
    }

    private mutating func judge(
        _ step: SubmittedStep, _ result: TransactionOutcome, _ poison: Set<TransactionID>
    ) throws(Violation) {
        let id = step.transaction
        try check(result.transaction == id, .clientOrder, "\(step.client) \(step.number): another transaction")
        guard let written = written[id], !step.isVoid else {
            return try check(result.rejection != nil, .terminality, "\(id): what nobody wrote took effect")
        }
        if step.isRefused {
            try check(result.rejection != nil && poison.contains(id), .terminality, "\(id): refused without a reason")
            refused.insert(id)
            return
        }
        try check(written.user == step.user, .writeAccess, "\(id): pushed by another user")
        let before = state.last
        let (refusal, contested) = state.apply(written.transaction, by: written.user)
        try check(result.contested == contested, .merge, "\(id): \(result.contested) contested, not \(contested)")
        if !contested.isEmpty { self.contested.insert(id) }
        if let refusal {
            let invariant: Invariant = refusal.code == .forbidden || refusal.code == .notFound ? .writeAccess : .merge
            try check(
                result.rejection != nil, invariant,
                "\(id) took effect; it should be \(refusal.code): \(refusal.message)")
            refused.insert(id)
        } else {
            let message = result.rejection.map { "\($0.code): \($0.message)" } ?? ""
            try check(result.rejection == nil, .terminality, "\(id) was refused, and should not be: \(message)")
            // A client that begins anew sends its unsettled transactions again, and late messages may still arrive.
            let mayRepeat = hasForked && written.transaction.isRepeatable
            try check(accepted.insert(id).inserted || mayRepeat, .exactlyOnce, "\(id) took effect twice")
            lost.remove(id)
            let hasEffect = state.last > before
            try check(!hasEffect || result.seq == state.last, .merge, "\(id): result says \(result.seq)")
            try check(
                !hasEffect || before + 1 > written.after, .causality, "\(id) at \(before + 1), after \(written.after)")
        }
    }
}

extension Transaction {
    /// True when applying it twice has the effect of applying it once.
    fileprivate var isRepeatable: Bool {
        mutations.allSatisfy { mutation in
            guard case .update(let patches) = mutation.action else { return true }
            return patches.allSatisfy { if case .increment = $0.patch { false } else { true } }
        }
    }
}

/// Throws the violation when `holds` is false.
func check(
    _ holds: Bool, _ invariant: Invariant, _ message: @autoclosure () -> String
) throws(Violation) {
    if !holds { throw Violation(invariant: invariant, message: message()) }
}
