package import TidemarkModel

/// Decides one step of the erasure of a marked scope (ERASURE.md): records first, then bodies.
package struct ScopeErasureMachine: RowMachine {
    private enum Phase { case begun, records, forgotten, ledgers, bodies }

    /// The result so far.
    package private(set) var step = ErasureStep()
    private let scope: ScopeID
    private let graves: Set<RecordKey>
    private let limit: Int
    private var phase = Phase.begun
    /// The tombstones that stay.
    private var staying: [FoundRecord] = []

    /// - Parameters:
    ///   - graves: tombstones that stay, without their ledgers.
    ///   - limit: the maximum number of records, and of batches where there may be many.
    package init(_ scope: ScopeID, keeping graves: Set<RecordKey>, limit: Int) {
        self.scope = scope
        self.graves = graves
        self.limit = max(1, limit)
    }

    package mutating func next(_ answer: RowAnswer) -> RowCall? {
        switch phase {
        case .begun:
            phase = .records
            return .records(of: scope, limit: limit + graves.count + 1)
        case .records:
            staying = answer.found.filter { $0.isDeleted && graves.contains($0.key) }
            let going = answer.found.filter { !$0.isDeleted || !graves.contains($0.key) }
            step.isDone = going.count <= limit
            phase = .forgotten
            return .forget(Array(going.prefix(limit)))
        case .forgotten:
            (step.records, step.ledgerEntries) = (answer.rows, answer.ledgerEntries)
            phase = .ledgers
            return .dropLedgers(staying)
        case .ledgers:
            step.ledgerEntries += answer.ledgerEntries
            guard step.isDone else { return nil }
            phase = .bodies
            return .emptyBodies(of: scope, limit: limit)
        case .bodies:
            step.bodies = answer.rows
            step.isDone = step.bodies < limit
            return nil
        }
    }
}
