package import TidemarkModel

/// A call that finds or deletes rows of one workspace, as a step of compaction or erasure makes it.
package enum RowCall: Hashable, Sendable {
    /// Deletes the oldest batches below a number.
    case dropBatches(below: SequenceNumber, limit: Int)
    /// Finds tombstones up to a number, in the order of their numbers: those of the openers, or all others. A tombstone
    /// of an opener is left out while another of them has a living record of its id.
    case tombstones(through: SequenceNumber, openers: [String], areOpeners: Bool, limit: Int)
    /// Finds records of a scope, living and dead, in the order of their numbers.
    case records(of: ScopeID, limit: Int)
    /// Deletes found records with their ledgers.
    case forget([FoundRecord])
    /// Deletes the ledgers of found records, which stay.
    case dropLedgers([FoundRecord])
    /// Deletes ledger entries from before a time.
    case dropOldLedger(before: Milliseconds, limit: Int)
    /// Deletes ended memberships, and marks of ended erasures, up to a number.
    case dropMarks(through: SequenceNumber)
    /// Empties the bodies of batches up to the mark of a scope without records, and deletes its ended memberships.
    case emptyBodies(of: ScopeID, limit: Int)
}

/// A record that a ``RowCall`` found; nobody changes it until the step has ended.
package struct FoundRecord: Hashable, Sendable {
    package var key: RecordKey
    package var scope: ScopeID
    package var isDeleted: Bool
    /// The number of its row, in a store that has such numbers.
    package var row: Int64

    package init(key: RecordKey, scope: ScopeID, isDeleted: Bool, row: Int64 = 0) {
        self.key = key
        self.scope = scope
        self.isDeleted = isDeleted
        self.row = row
    }
}

/// The answer to a ``RowCall``.
package struct RowAnswer: Hashable, Sendable {
    /// The number of deleted or emptied rows, without ledger entries.
    package var rows: Int
    package var ledgerEntries: Int
    package var found: [FoundRecord]

    package init(rows: Int = 0, ledgerEntries: Int = 0, found: [FoundRecord] = []) {
        self.rows = rows
        self.ledgerEntries = ledgerEntries
        self.found = found
    }
}

/// Decides a step of compaction or erasure, for every store: answers are its input, calls its output. The store runs
/// all calls of a step in one transaction.
package protocol RowMachine: Sendable {
    /// Returns the next call, after the answer to the last one; `nil` at the step's end.
    mutating func next(_ answer: RowAnswer) -> RowCall?
}

extension RowMachine {
    /// Runs the step in a store that answers at once.
    package mutating func run(_ answer: (RowCall) throws -> RowAnswer) rethrows {
        var last = RowAnswer()
        while let call = next(last) { last = try answer(call) }
    }

    /// Runs the step in a store that is waited for.
    package mutating func run(_ answer: (RowCall) async throws -> RowAnswer) async rethrows {
        var last = RowAnswer()
        while let call = next(last) { last = try await answer(call) }
    }
}
