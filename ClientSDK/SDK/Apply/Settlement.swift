import Foundation
import GRDB
import TidemarkModel
import TidemarkWire

/// Takes settled transactions out of the outbox, inside the transaction that applies their rows.
struct Settlement {
    let db: Database
    /// What was written lately, so that its text need not be read.
    let memo: TransactionMemo
    /// Of the journal.
    let bytesMax: Int64

    func settle(_ settled: Settled, now: Milliseconds, rebase: inout Rebase) throws {
        guard try settled.through <= OutboxCounts(db).number else {
            throw StoreError(.clientForked, "number \(settled.through) was settled and never given out here")
        }
        let outbox = OutboxTable(db: db)
        let outcomes = Dictionary(settled.outcomes.map { ($0.number, $0) }, uniquingKeysWith: { first, _ in first })
        let journal = Journal(db: db)
        var committed = 0
        var bytes: Int64 = 0
        var isWithdrawn = false
        for entry in try outbox.entries(through: settled.through) {
            let outcome = outcomes[entry.number]
            guard outcome != nil else {
                // The server forgets an outcome once the client knows it, and this one does not: another does.
                throw StoreError(.clientForked, "number \(entry.number) was settled, and its outcome told elsewhere")
            }
            if let outcome, outcome.transaction != entry.id {
                throw StoreError(.clientForked, "number \(entry.number) was settled for another transaction")
            }
            if entry.state == .withdrawn, outcome?.rejection?.code == .invalid {
                // The withdrawal came first. Should it be the transaction itself that is invalid, its next sending tells.
                try Withholding(db: db).wait(entry)
                bytes += try journal.keepNumber(of: entry)
                isWithdrawn = true
                continue
            }
            if let rejection = outcome?.rejection {
                try refuse(entry, rejection, at: now, rebase: &rebase)
                bytes += try journal.refuse(entry)
            } else {
                let (seq, time) = (outcome?.seq ?? 0, outcome?.time ?? 0)
                let scopes = try commit(entry, seq: seq, time: time, rebase: &rebase)
                bytes += try journal.keep(entry, seq: seq, time: time, scopes: scopes)
                committed += 1
            }
        }
        try journal.grow(by: bytes)
        if isWithdrawn {
            for key in try Withholding(db: db).releaseWanted() { rebase.touch(key) }
        }
        if committed > 0 { rebase.note(.committed(transactions: committed)) }
        let before = try Meta.ackedThrough.integer(db) ?? 0
        if settled.through > before {
            // From here on a past cursor says that the client id was registered: it lies behind what was settled under it.
            if before == 0 { try journal.notePast(isNew: true) }
            try Meta.ackedThrough.set(settled.through, db)
        }
        try journal.bound(to: bytesMax)
    }

    private func refuse(
        _ entry: OutboxEntry, _ rejection: Rejection, at now: Milliseconds, rebase: inout Rebase
    ) throws {
        switch entry.state {
        case .held, .void, .settled, .refused: break
        case .queued, .sending, .reoffered, .withdrawn, .waiting:
            for key in try Parking(db: db).park(entry, rejection, at: now) { rebase.fail(key) }
            if try Awaiting(db: db).isLikely(entry, rejection) { try Awaiting(db: db).mark(entry.id, at: now) }
            rebase.note(.parked(transaction: UUID(entry.id), rejection: rejection))
            if rejection.code == .conflict {
                let transaction = try entry.transaction()
                try ConflictTable(db: db).note(transaction, schema: rebase.records.tables)
                rebase.refuse(transaction)
            }
        }
    }

    /// A held entry that was accepted after all is no longer parked.
    ///
    /// - Returns: the scopes of the records that it writes.
    private func commit(
        _ entry: OutboxEntry, seq: SequenceNumber, time: Milliseconds, rebase: inout Rebase
    ) throws -> Set<String> {
        if entry.state == .held || entry.state == .void { try Parking(db: db).delete(entry.id) }
        try ReceiptTable(db: db).commit(entry.id, seq: seq, time: time)
        let transaction = try memo.transaction(of: entry)
        var scopes: Set<String> = []
        for (key, scope) in try OutboxTable(db: db).unlink(transaction, number: entry.number) {
            rebase.commit(key, transaction, at: seq)
            scopes.insert(scope)
        }
        memo.forget(entry.id)
        return scopes
    }
}
