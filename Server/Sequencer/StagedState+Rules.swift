import TidemarkModel
import TidemarkStore

/// The rules of the schema, judged at the end of a transaction.
extension StagedState {
    /// Judges each record that the current transaction has written, once: the state before the transaction, and the
    /// state that it leaves.
    ///
    /// - Throws: the refusal by the first broken rule, in the order of the steps.
    mutating func judgeRules(_ steps: [Step], since mark: Mark, of submission: Submission) throws(Rejection) {
        guard steps.contains(where: { !$0.collection.rules.isEmpty }) else { return }
        var judged: Set<RecordKey> = []
        for step in steps where !step.collection.rules.isEmpty && judged.insert(step.key).inserted {
            guard let now = record(step.key), let earlier = found(step.key) else { continue }
            let record = try ruleCase(step, now, earlier, since: mark, of: submission)
            // Steps are counted like bytes: a rule over a large set is as much work as reading it.
            do throws(Rejection) {
                try spend(bounds.ruleStepWork * (try step.collection.judge(record)))
            } catch {
                // A role that was not read is not known to be none.
                if record.role == RuleCase.word(nil, isService: false) { noteMissing() }
                throw error
            }
        }
    }

    private mutating func ruleCase(
        _ step: Step, _ now: StoredRecord, _ earlier: Earlier, since mark: Mark, of submission: Submission
    ) throws(Rejection) -> RuleCase {
        let principal = submission.principal
        var before: Fields?
        if let living = earlier.record, !living.isDeleted {
            if let fields = earlier.fields { before = fields } else { before = try parsed(living, in: step.collection) }
        }
        let after = now.isDeleted ? nil : try fields(of: step.key, in: step.collection)
        var record = RuleCase(before: before, after: after, user: principal.user, author: now.author)
        record.wasDeleted = earlier.record?.isDeleted == true
        record.isService = principal.isService
        record.now = time
        let role: Role?
        if case .shared = step.collection.scope {
            role = .member
        } else {
            let seat = Seat(user: principal.user, scope: now.scope)
            // The creator of a scope has no role before it exists.
            role = grantBefore(seat, since: mark)?.role ?? grant(seat)?.role
        }
        record.role = RuleCase.word(role, isService: principal.isService)
        return record
    }
}
