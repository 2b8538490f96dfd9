package import TidemarkModel

/// Decides one step of compaction (COMPACTION.md): batches, then tombstones, then scopes whose own record is dead, then
/// old ledger entries and marks.
package struct CompactionMachine: RowMachine {
    private enum Phase { case begun, batches, tombstones, forgotten, graves, records, emptied, buried, ledger, ended }

    /// The result so far.
    package private(set) var step: CompactionStep
    private let order: CompactionOrder
    private var phase = Phase.begun
    private var hasAllTombstones = true
    /// The tombstones of scopes that are still to be ended.
    private var graves: ArraySlice<FoundRecord> = []
    /// The room for further rows of dead scopes.
    private var room: Int

    /// - Parameter horizon: the stored one.
    package init(_ order: CompactionOrder, horizon: SequenceNumber) {
        self.order = order
        step = CompactionStep(horizon: horizon, isDone: false)
        room = order.limit
    }

    package mutating func next(_ answer: RowAnswer) -> RowCall? {
        switch phase {
        case .begun:
            phase = .batches
            return .dropBatches(below: step.horizon, limit: order.limit)
        case .batches:
            step.batches = answer.rows
            guard step.batches < order.limit else { return nil }
            phase = .tombstones
            return tombstones(areOpeners: false)
        case .tombstones:
            hasAllTombstones = answer.found.count < order.limit
            phase = .forgotten
            return .forget(answer.found)
        case .forgotten:
            step.tombstones = answer.rows
            phase = .graves
            return tombstones(areOpeners: true)
        case .graves:
            graves = answer.found[...]
            return endScope()
        case .records:
            let others = answer.found.filter { $0.key != graves.first?.key }.prefix(room)
            // Its own tombstone is the last: until then a record that somebody has just added is found.
            let going = others.isEmpty ? [graves.removeFirst()] : Array(others)
            room -= going.count
            phase = others.isEmpty ? .buried : .emptied
            return .forget(going)
        case .emptied:
            step.scopeRecords += answer.rows
            return endScope()
        case .buried:
            step.tombstones += answer.rows
            return endScope()
        case .ledger:
            step.ledgerEntries = answer.ledgerEntries
            step.isDone = hasAllTombstones && room > 0 && step.ledgerEntries < order.limit
            phase = .ended
            return step.isDone ? .dropMarks(through: step.horizon) : nil
        case .ended: return nil
        }
    }

    private func tombstones(areOpeners: Bool) -> RowCall {
        .tombstones(
            through: step.horizon, openers: order.scopeCollections.sorted(), areOpeners: areOpeners, limit: order.limit)
    }

    /// Looks for the records of the next dead scope, or goes on behind the last one.
    private mutating func endScope() -> RowCall {
        guard room > 0, let grave = graves.first else {
            phase = .ledger
            return .dropOldLedger(before: order.ledgerTime, limit: order.limit)
        }
        phase = .records
        return .records(of: grave.scope, limit: room + 1)
    }
}
