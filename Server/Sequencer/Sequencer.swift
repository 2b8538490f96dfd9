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
