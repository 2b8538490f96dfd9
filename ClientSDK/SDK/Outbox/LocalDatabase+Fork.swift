import GRDB
package import TidemarkModel

extension LocalDatabase {
    /// Starts over under another client id, after the server did not know this one or knew another database under it
    /// . Pending transactions are numbered from 1 and keep their ids.
    ///
    /// Entries that were settled under the old client id stay in the journal, out of the way of the new numbers. If the
    /// server is known to have lost a part of them (`Meta.lostAbove`), that part is offered again, before the pending
    /// ones.
    ///
    /// A transaction that was under way, and would take effect twice if it had arrived, is parked with `conflict` for
    /// the app to decide.
    /// - Parameter isCopy: true when another installation may hold the same outbox and send it. A transaction that
    ///   would take effect twice is then parked even if it was never sent here.
    package func fork(newClient: ClientID, isCopy: Bool = false) throws {
        try change { db in try fork(newClient: newClient, isCopy: isCopy, db) }
    }

    func fork(newClient: ClientID, isCopy: Bool, _ db: Database) throws {
        let outbox = OutboxTable(db: db)
        var rebase = Rebase(records: RecordTable(db, self))
        let written = try OutboxCounts(db).written
        var number: Int64 = 0
        let lost = try Journal(db: db).leave(isCopy: isCopy)
        var offered: [(entry: OutboxEntry, number: Int64)] = []
        let entries = try lost + outbox.entries() + Withholding(db: db).waiting()
        for entry in entries.sorted(by: { $0.written < $1.written }) {
            switch entry.state {
            case .held, .void:
                try outbox.delete(entry.number)
                continue
            case .sending where try !entry.transaction().isRepeatable,
                .reoffered where try !entry.transaction().isRepeatable,
                .withdrawn where try !entry.transaction().isRepeatable,
                .queued where try isCopy && !entry.transaction().isRepeatable,
                .waiting where try isCopy && !entry.transaction().isRepeatable:
                let rejection = Rejection(
                    .conflict,
                    "it may also be sent under another client id of this database, and would take effect twice")
                for key in try Parking(db: db).park(entry, rejection, at: entry.created) { rebase.touch(key) }
                try outbox.delete(entry.number)
                continue
            case .queued, .sending, .reoffered, .withdrawn, .waiting, .settled, .refused: break
            }
            number += 1
            if entry.state == .settled { offered.append((entry, number)) }
            // No number below zero is taken until all old numbers are gone.
            try outbox.move(entry, to: -number, entry.state == .settled ? .reoffered : .queued)
            if entry.state.isWithheld {
                for mutation in try entry.transaction().mutations { rebase.touch(mutation.key) }
            }
        }
        for table in ["tidemark_outbox", "tidemark_outbox_record"] {
            try db.run("UPDATE \(table) SET n = -n WHERE n < 0 AND n > -\(Withholding.firstWaitingNumber)")
        }
        try Reoffering(RecordTable(db, self), account: account, now: 0).restore(offered, rebase: &rebase)
        try Meta.client.set(newClient.description, db)
        for (meta, value) in [
            (Meta.registered, Int64(0)), (.connection, 0), (.ackedThrough, 0),
        ] {
            try meta.set(value, db)
        }
        try OutboxCounts(number: number, written: written).keep(db)
        try Journal(db: db).recount()
        try rebase.finish()
    }
}

extension Transaction {
    /// True when applying it twice has the same result as once.
    fileprivate var isRepeatable: Bool {
        mutations.allSatisfy { mutation in
            guard case .update(let patches) = mutation.action else { return true }
            return patches.allSatisfy { if case .increment = $0.patch { false } else { true } }
        }
    }
}
