import Foundation
import GRDB
import TidemarkModel
import TidemarkWire

/// Gains and losses of scopes, inside one SQLite transaction.
struct ScopeChange {
    private let records: RecordTable
    private let filling: ScopeFilling
    private let account: UserID
    private let now: Milliseconds

    /// - Parameter now: stored with what is parked.
    init(_ database: LocalDatabase, _ db: Database, now: Milliseconds) {
        records = RecordTable(db, database)
        filling = ScopeFilling(schema: database.schema, db: db, cache: database.limits.cache)
        account = database.account
        self.now = now
    }

    /// Holds a scope under a grant. If it is held under that grant already, only the role changes. Under another grant
    /// the copy is filled anew, and pending writes stay.
    ///
    /// - Parameter isAnew: true to treat the grant as another one whatever its number.
    func gain(_ scope: ScopeID, since: SequenceNumber, role: Role, isAnew: Bool = false) throws {
        let held = try ScopeTable(db: records.db).since(scope)
        if let held {
            if held == since, !isAnew { return try ScopeTable(db: records.db).setRole(role, scope) }
            try records.forget(scope)
        }
        try filling.start(scope, since: since, role: role, isHeld: held != nil)
        try BlobTable(db: records.db).regain(scope)
    }

    /// Deletes everything held of a scope and parks its pending writes with `revoked`. The log keeps its data
    /// until ``LocalDatabase/cutLog(isNeeded:)``.
    ///
    /// - Parameters:
    ///   - wentBack: true when the server's database went back, and may have lost the grant. If this device opened the
    ///     scope, its writes stay visible: they bring it back. If another device did, its writes wait for that.
    ///   - isGranted: true when access continues, and the connection has no room for the scope: its pending writes are
    ///     sent.
    func lose(
        _ scope: ScopeID, wentBack: Bool = false, isGranted: Bool = false, rebase: inout Rebase
    ) throws {
        if isGranted { return try empty(scope, rebase: &rebase) }
        let outbox = OutboxTable(db: records.db)
        let entries = try outbox.entries(touching: scope)
        if try wentBack && entries.contains(where: { try opens(scope, $0) }) {
            return try empty(scope, rebase: &rebase)
        }
        let rejection = Rejection(.revoked, "\(scope): access to it ended")
        for entry in entries {
            for key in try Parking(db: records.db).park(entry, rejection, at: now) { rebase.touch(key) }
            if wentBack { try Awaiting(db: records.db).mark(entry.id, at: now) }
            rebase.note(
                .rejected(
                    transaction: UUID(entry.id), rejection: rejection, LoggedWrites(try entry.transaction().mutations)))
            // The number stays: numbers have no gaps, and the server may have accepted it before the access ended.
            switch entry.state {
            case .queued, .void: try outbox.set(.void, entry.number)
            case .sending, .reoffered, .held, .withdrawn: try outbox.set(.held, entry.number)
            case .waiting: try outbox.delete(entry.number)
            case .settled, .refused: break
            }
        }
        try Journal(db: records.db).forget(scope)
        if !wentBack { try Rescue.forget(scope, records.db) }
        try empty(scope, rebase: &rebase)
        try records.db.run("DELETE FROM tidemark_base WHERE scope = ?", [scope.text])
        try BlobTable(db: records.db).lose(scope)
    }

    /// Returns whether the entry creates the scope's own record.
    private func opens(_ scope: ScopeID, _ entry: OutboxEntry) throws -> Bool {
        switch entry.state {
        case .queued, .sending, .reoffered, .withdrawn, .waiting: break
        case .held, .void, .settled, .refused: return false
        }
        return try entry.transaction().mutations.contains { mutation in
            guard case .create = mutation.action, ScopeID(record: mutation.key.id) == scope else { return false }
            return records.tables[mutation.key.collection]?.collection.scope == .ownRecord
        }
    }

    /// Deletes what the server sent of a scope.
    private func empty(_ scope: ScopeID, rebase: inout Rebase) throws {
        try uncover(scope, rebase: &rebase)
        try records.db.run("DELETE FROM tidemark_history WHERE scope = ?", [scope.text])
        for (name, table) in records.tables.sorted(by: { $0.key < $1.key }) {
            // Entries deleted from an index stay in its older parts until they are merged, so it begins anew.
            let rows = "SELECT 1 FROM \(CollectionTable.quoted(name)) WHERE scope = ? LIMIT 1"
            if table.search.isWanted, try records.db.exists(rows, [scope.text]) { try table.search.forget(records.db) }
            try records.db.run("DELETE FROM \(CollectionTable.quoted(name)) WHERE scope = ?", [scope.text])
        }
        try Meta.withdrawn.set(1, records.db)
        try Meta.unwiped.set(1, records.db)
        try ScopeTable(db: records.db).delete(scope)
    }

    /// Shows the pending writes of the scope anew, since its rows are deleted. A pending create of another scope may be
    /// on top of a record of this one with the same id. Its base then becomes no record again, and the write stays
    /// until the server judges it.
    private func uncover(_ scope: ScopeID, rebase: inout Rebase) throws {
        let sql = """
            SELECT r.collection, r.local_id, r.scope
            FROM tidemark_outbox_record AS r
            LEFT JOIN tidemark_base AS b ON b.collection = r.collection AND b.local_id = r.local_id
            WHERE coalesce(b.scope, r.scope) = ?
            ORDER BY r.n DESC
            """
        for row in try records.db.all(sql, [scope.text]) {
            let key = try row.key(0)
            let own = ScopeID(try row.text(2))
            try records.saveBase(LocalRecord(absent: key, scope: own, author: account, created: now))
            rebase.touch(key)
        }
    }

    /// Fills each held scope from the start: present records stay visible until they are replaced, or the scope is
    /// complete without them.
    func refillAll() throws {
        try PastCursors(db: records.db).forget()
        try ComparisonTable(db: records.db).endFilling()
        try DeletionLog(db: records.db, keptMax: 0).clear()
        let sql = "SELECT scope, since, role FROM tidemark_scope ORDER BY scope"
        for row in try records.db.all(sql) {
            let scope = ScopeID(try row.text(0))
            try records.outdate(scope)
            try filling.start(scope, since: try row.integer(1), role: Role(rawValue: try row.text(2)) ?? .member)
        }
    }
}
