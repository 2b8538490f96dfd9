import GRDB
package import TidemarkModel
package import TidemarkWire

extension LocalDatabase {
    /// Applies one step of the order whole: settled transactions, scopes, rows, what is pending on top, the cursor.
    ///
    /// - Parameters:
    ///   - now: the device's time, noted on what is parked.
    ///   - note: told after the commit what was decided.
    /// - Throws: `StoreError` with `cursorMismatch` when the frame does not continue the stored cursor, `clientForked`
    ///   when it settles a number for a transaction that is not this database's. Nothing is then applied.
    package func apply(
        _ changes: Changes, now: Milliseconds, noting note: (SyncLogEvent) -> Void = { _ in }
    ) throws {
        let events = try change { db in
            let cursor = try Meta.cursor.text(db)
            guard cursor == changes.from else {
                throw StoreError(
                    .cursorMismatch, "the frame continues \(changes.from), not \(cursor ?? "an empty copy")")
            }
            let records = RecordTable(db, self)
            var rebase = Rebase(records: records)
            // First what is settled: a transaction that was accepted before its scope was lost is not to be parked. Then
            // scopes, since the frame's rows are filtered by the grants as they stand after it (R-61).
            if let settled = changes.settled {
                try Settlement(db: db, memo: memo).settle(settled, now: now, rebase: &rebase)
            }
            try apply(changes.grants, ScopeChange(self, db, now: now), rebase: &rebase)
            var rows = try RowApplier(records)
            for group in names.local(changes.groups) {
                guard let held = try ScopeTable(db: db).held(group.scope) else { continue }
                try rows.apply(group.changes, isFilling: held.isFilling, rebase: &rebase)
            }
            try rows.finish()
            try rebase.finish()
            try Meta.cursor.set(changes.cursor, db)
            if changes.isConsistent {
                try Meta.synced.set(changes.time, db)
                // SQLite tells of no change to a table without rowids.
                try db.notifyChanges(in: Table("tidemark_meta"))
            }
            return rebase.events
        }
        for event in events { note(event) }
    }

    /// Only the last word on each scope counts: what was lost and regained is filled anew without parking what is pending.
    private func apply(_ grants: [Changes.GrantChange], _ scopes: ScopeChange, rebase: inout Rebase) throws {
        for (index, grant) in grants.enumerated() {
            if grants[(index + 1)...].contains(where: { $0.scope == grant.scope }) { continue }
            if let role = grant.role {
                try scopes.gain(grant.scope, since: grant.since, role: role)
            } else {
                try scopes.lose(grant.scope, rebase: &rebase)
            }
        }
    }
}
