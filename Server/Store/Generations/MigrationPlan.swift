/// A step that is to be made.
package struct PlannedStep: Sendable {
    /// A step that adds, or one that takes away.
    package enum Work: Sendable {
        case step(Generation.Step.Work)
        /// Statements; older nodes are refused from then on.
        case contract([String])
    }

    package let generation: Int
    package let name: String
    package let work: Work
    package let isNeeded: Bool

    /// What it is recorded under.
    package var id: String { "\(generation) \(name)" }

    /// `nil` for a step that goes over no rows.
    package var backfill: Generation.Backfill? {
        if case .step(.backfill(let backfill)) = work { backfill } else { nil }
    }
}

/// What has to be done to a database, as a value: the same for both stores.
package struct MigrationPlan: Sendable {
    /// How much of it is to be done.
    package enum Extent: Sendable {
        /// What a node cannot serve without.
        case needed
        /// All but taking away.
        case all
        /// Taking away as well.
        case contract
    }

    /// In order.
    package let steps: [PlannedStep]

    /// - Parameter generations: those that this version knows, in order.
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

    /// The steps of a generation, without what it takes away.
    package static func additions(of generation: Generation) -> [PlannedStep] {
        generation.steps.map {
            PlannedStep(generation: generation.number, name: $0.name, work: .step($0.work), isNeeded: $0.isNeeded)
        }
    }

    /// `nil` where nothing is taken away.
    package static func contraction(of generation: Generation) -> PlannedStep? {
        guard !generation.contract.isEmpty else { return nil }
        return PlannedStep(
            generation: generation.number, name: "contract", work: .contract(generation.contract), isNeeded: false)
    }

    /// The backfills that nodes may have undone which a contraction keeps out: those since the last contraction.
    package static func backfills(
        _ generations: [Generation], before step: PlannedStep, from state: GenerationState
    ) -> [PlannedStep] {
        let last = generations.last { contraction(of: $0).map { state.steps[$0.id]?.isDone == true } ?? false }
        let since = generations.filter { $0.number <= step.generation && $0.number > last?.number ?? .min }
        return since.flatMap { additions(of: $0) }.filter { $0.backfill != nil }
    }

    /// The generation whose nodes have all that they need once the needed steps among `done` are made.
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

/// What is told of a migration while it runs.
package enum MigrationEvent: Sendable, Equatable {
    /// - Parameter rows: about as many are concerned, where that is known.
    case began(step: String, rows: Int64?)
    /// Rows that a step has seen so far, earlier runs included.
    case moved(step: String, rows: Int64, of: Int64?)
    /// Somebody else is at it, or holds what it needs.
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
    /// About as many rows are concerned; `nil` for none.
    package let rows: Int64?
    /// Rows that an earlier run has done.
    package let done: Int64
    package let stops: String
    /// Which nodes may work on the database afterwards.
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
            stops = isShared ? "nobody; waits for transactions that are under way" : "writes, until it is made"
        case .step(.backfill(let backfill)):
            does = "fills in rows of \(backfill.table), some hundred at a time"
            stops = isShared ? "the workspaces of those rows, for moments" : "writes, for moments"
        case .contract(let statements):
            does = "takes away what older nodes used, \(statements.count) statement\(statements.count == 1 ? "" : "s")"
            stops = "nodes of generations before \(step.generation), for good"
        }
        let least = if case .contract = step.work { step.generation } else { oldest }
        serves = "generation \(least) and later"
    }

    /// For a terminal.
    package var text: String {
        let amount = rows.map { "\n  rows:   about \($0)" + (done > 0 ? ", \(done) of them done" : "") } ?? ""
        return "\(step)\n  does:   \(does)\(amount)\n  stops:  \(stops)\n  serves: \(serves)"
    }
}
