/// A step that remains to be done.
package struct PlannedStep: Sendable {
    /// The kinds of planned steps: those that add, and those that remove.
    package enum Work: Sendable {
        case step(Generation.Step.Work)
        /// Statements that remove; older nodes are refused from then on.
        case contract([String])
    }

    package let generation: Int
    package let name: String
    package let work: Work
    package let isNeeded: Bool

    /// The key under which the step is recorded.
    package var id: String { "\(generation) \(name)" }

    /// The statements of an addition; none for a backfill.
    package var statements: [String] {
        switch work {
        case .step(.tables(let statements)): statements
        case .step(.index(_, let statement)): [statement]
        case .step(.backfill), .contract: []
        }
    }

    /// The backfill of the step; `nil` for a step that goes over no rows.
    package var backfill: Generation.Backfill? {
        if case .step(.backfill(let backfill)) = work { backfill } else { nil }
    }
}

/// The steps that remain to be done on a database, as a value: the same for both stores.
package struct MigrationPlan: Sendable {
    /// The extent of the work.
    package enum Extent: Sendable {
        /// The steps that a node needs before it can serve.
        case needed
        /// All steps except those that remove.
        case all
        /// All steps, including those that remove.
        case contract
    }

    /// The steps in their order.
    package let steps: [PlannedStep]

    /// - Parameter generations: the generations that this version knows, in order.
    package init(_ generations: [Generation], from state: GenerationState, extent: Extent) {
        let additions = generations.flatMap { Self.additions(of: $0) }
        var steps = additions.filter { step in
            state.steps[step.id]?.isDone != true && (extent != .needed || step.isNeeded)
        }
        if extent == .contract {
            steps += generations.compactMap { Self.contraction(of: $0) }.filter { state.steps[$0.id]?.isDone != true }
        }
        self.steps = steps
    }

    /// Returns the steps of a generation, without what it removes.
    package static func additions(of generation: Generation) -> [PlannedStep] {
        generation.steps.map {
            PlannedStep(generation: generation.number, name: $0.name, work: .step($0.work), isNeeded: $0.isNeeded)
        }
    }

    /// Returns the step that removes; `nil` for a generation that removes nothing.
    package static func contraction(of generation: Generation) -> PlannedStep? {
        guard !generation.contract.isEmpty else { return nil }
        return PlannedStep(
            generation: generation.number, name: "contract", work: .contract(generation.contract), isNeeded: false)
    }

    /// Returns the backfills since the last contraction. Nodes that this contraction locks out may have undone them.
    package static func backfills(
        _ generations: [Generation], before step: PlannedStep, from state: GenerationState
    ) -> [PlannedStep] {
        let last = generations.last { contraction(of: $0).map { state.steps[$0.id]?.isDone == true } ?? false }
        let since = generations.filter { $0.number <= step.generation && $0.number > last?.number ?? .min }
        return since.flatMap { additions(of: $0) }.filter { $0.backfill != nil }
    }

    /// Returns the newest generation whose needed steps are all done, and so are those of the generations before.
    package static func reached(_ generations: [Generation], from state: GenerationState) -> Int {
        var reached = state.generation
        for generation in generations where generation.number > reached {
            let isThere = additions(of: generation).allSatisfy { !$0.isNeeded || state.steps[$0.id]?.isDone == true }
            guard isThere else { break }
            reached = generation.number
        }
        return reached
    }
}

/// The progress of a running migration.
package enum MigrationEvent: Sendable, Equatable {
    /// - Parameter rows: the approximate number of affected rows, where it is known.
    case began(step: String, rows: Int64?)
    /// The rows that a step has seen so far, earlier runs included.
    case moved(step: String, rows: Int64, of: Int64?)
    /// Another process is migrating, or holds a lock that the step needs.
    case waiting(step: String, reason: String)
    case ended(step: String)

    /// One line for a terminal.
    package var text: String {
        switch self {
        case .began(let step, let rows?): "\(step): begins, about \(rows) rows"
        case .began(let step, nil): "\(step): begins"
        case .moved(let step, let rows, let total?) where total > 0:
            "\(step): \(rows) rows, \(min(100, rows.multipliedReportingOverflow(by: 100).partialValue / total)) %"
        case .moved(let step, let rows, _): "\(step): \(rows) rows"
        case .waiting(let step, let reason): "\(step): waits, \(reason)"
        case .ended(let step): "\(step): done"
        }
    }
}

/// A step as `tidemark migrate --plan` shows it.
package struct PlanLine: Sendable, Equatable {
    package let step: String
    package let does: String
    /// The approximate number of affected rows; `nil` for none.
    package let rows: Int64?
    /// Rows that an earlier run has done.
    package let done: Int64
    package let stops: String
    /// The nodes that may work on the database afterwards.
    package let serves: String

    package init(_ step: PlannedStep, rows: Int64?, done: Int64, serves oldest: Int, isShared: Bool) {
        self.step = step.id
        self.rows = rows
        self.done = done
        switch step.work {
        case .step(.tables(let statements)):
            does = "adds to the tables, \(statements.count) statement\(statements.count == 1 ? "" : "s")"
            stops = isShared ? "a table for 0.2 s at most, then it gives way and tries again" : "writes, for a moment"
        case .step(.index(let name, _)):
            does = "makes the index \(name)"
            stops = isShared ? "nobody; waits for running transactions" : "writes, until it is made"
        case .step(.backfill(let backfill)):
            does = "fills in rows of \(backfill.table), some hundred at a time"
            stops = isShared ? "the workspaces of those rows, for moments" : "writes, for moments"
        case .contract(let statements):
            does = "removes what older nodes used, \(statements.count) statement\(statements.count == 1 ? "" : "s")"
            stops = "nodes of generations before \(step.generation), for good"
        }
        let least = if case .contract = step.work { step.generation } else { oldest }
        serves = "generation \(least) and later"
    }

    /// The lines for a terminal.
    package var text: String {
        let amount = rows.map { "\n  rows:   about \($0)" + (done > 0 ? ", \(done) of them done" : "") } ?? ""
        return "\(step)\n  does:   \(does)\(amount)\n  stops:  \(stops)\n  serves: \(serves)"
    }
}
