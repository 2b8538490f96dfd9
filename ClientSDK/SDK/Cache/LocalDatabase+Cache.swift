import GRDB
package import TidemarkModel
import TidemarkWire

extension LocalDatabase {
    /// Evicts the records that the policy does not keep.
    ///
    /// - Parameter policy: `nil` for the database's own.
    /// - Returns: the number of records evicted.
    @discardableResult
    package func evict(_ policy: CachePolicy? = nil, now: Milliseconds) throws -> Int {
        try evict(policy) { eviction in try eviction.run(now: now) }
    }

    /// Evicts records of one scope only.
    func evict(_ scope: ScopeID, keepingLast rows: Int) throws -> Int {
        try evict(nil) { eviction in try eviction.run(scope, keepingLast: rows) }
    }

    private func evict(_ policy: CachePolicy?, _ run: (inout Eviction) throws -> Int) throws -> Int {
        try change { db in
            var eviction = try Eviction(self, db, policy: policy ?? limits.cache)
            let count = try run(&eviction)
            // Records below a floor are not compared any more.
            if try count > 0 && ComparisonTable(db: db).isFilling { try CopyFilling(self, db).fetchUncompared() }
            return count
        }
    }

    /// Asks for more of a collection's older records in a scope.
    ///
    /// - Parameter count: the number of rows, counted from the end of the copy; `nil` for all.
    /// - Returns: false when all records are on the device or requested.
    @discardableResult
    package func wantOlder(_ collection: String, in scope: ScopeID, count: Int?) throws -> Bool {
        try change { db in
            try db.run(
                """
                UPDATE tidemark_scope_page SET remaining = CASE WHEN ?1 IS NULL THEN NULL ELSE max(remaining, ?1) END
                WHERE scope = ?2 AND collection = ?3 AND is_complete = 0 AND remaining IS NOT NULL
                """, [count.map { max(1, $0) }, scope.text, collection])
            let isAsked = db.changesCount > 0
            if isAsked { try ScopeTable(db: db).noteChange() }
            return isAsked
        }
    }

    /// Forgets the server's records, all of which can be fetched again, and returns the space to the disk. Unsent and
    /// refused writes stay.
    func clearCache() throws {
        try change { db in
            let records = RecordTable(db, self)
            for held in try ScopeTable(db: db).all() { try records.forget(held.scope) }
            try BlobTable(db: db).clearHeld()
            try db.run("UPDATE tidemark_scope SET is_complete = 0")
            for collection in schema.collections {
                try db.run(
                    """
                    UPDATE tidemark_scope_page SET floor = NULL, is_complete = 0, remaining = ? WHERE collection = ?
                    """, [limits.cache.rowsWanted(of: collection), collection.name])
            }
            try ScopeTable(db: db).noteChange()
        }
        try vacuum()
    }

    /// Rewrites the file in two cases. First, if it is larger than the policy allows and a third of it is free: the space
    /// returns to the disk. Second, after a scope was withdrawn: SQLite overwrites deleted rows, but leaves copies of rows
    /// that it had moved between pages. Takes as long as writing the used part; readers do not wait.
    ///
    /// - Returns: false in neither case, or in the second alone for a file above `wipedBytesMax` and the policy's bound.
    @discardableResult
    package func giveBack() throws -> Bool {
        guard path != nil else { return false }
        let (total, free, isUnwiped) = try writer.read { db in
            (try FileSize(db: db).total(), try FileSize(db: db).free(), try Meta.unwiped.integer(db) == 1)
        }
        let bytesMax = limits.cache.maxBytes
        let isWasteful = bytesMax.map { total > $0 && free >= total / 3 } ?? false
        guard isWasteful || (isUnwiped && total <= max(bytesMax ?? 0, Self.wipedBytesMax)) else { return false }
        try vacuum()
        return true
    }

    /// The largest file that is written anew only for what was withdrawn.
    private static var wipedBytesMax: Int64 { 128 << 20 }

    private func vacuum() throws {
        let first = path.map { FirstPage(beside: $0) }
        // Vacuuming moves tables: the kept first page must not exist while it is wrong.
        try first?.forget()
        try writer.writeWithoutTransaction { db in
            // Vacuuming may renumber rows. Nothing is indexed meanwhile; the indexes are rebuilt when they are needed.
            try db.inTransaction {
                try searchUpkeep.forget(db)
                return .commit
            }
            try db.execute(sql: "VACUUM")
            try Meta.unwiped.set(0, db)
        }
        // The log still holds the former pages.
        cutLog(isNeeded: true)
        // If the disk is full, none is written until the next opening.
        try? writer.read { db in try first?.note(db) }
    }
}
