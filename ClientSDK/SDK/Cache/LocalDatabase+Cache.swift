import GRDB
package import TidemarkModel
import TidemarkWire

extension LocalDatabase {
    /// Evicts what the policy does not keep.
    ///
    /// - Parameter policy: the database's own when there is none.
    /// - Returns: how many records went.
    @discardableResult
    package func evict(_ policy: CachePolicy? = nil, now: Milliseconds) throws -> Int {
        try evict(policy) { eviction in try eviction.run(now: now) }
    }

    /// The same for one scope alone.
    func evict(_ scope: ScopeID, keepingLast rows: Int) throws -> Int {
        try evict(nil) { eviction in try eviction.run(scope, keepingLast: rows) }
    }

    private func evict(_ policy: CachePolicy?, _ run: (inout Eviction) throws -> Int) throws -> Int {
        try change { db in
            var eviction = try Eviction(self, db, policy: policy ?? limits.cache)
            let count = try run(&eviction)
            // What stays below a floor is not compared any more.
            if try count > 0 && ComparisonTable(db: db).isFilling { try CopyFilling(self, db).fetchUncompared() }
            return count
        }
    }

    /// Asks for more of a collection's older records in a scope.
    ///
    /// - Parameter count: rows, counted from where the copy ends; `nil` for all there are.
    /// - Returns: false when everything is here, or on its way.
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

    /// Forgets the server's records, all that can be fetched again, and gives the room back to the disk. What is not sent
    /// yet stays, and what was refused.
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

    /// Writes the file anew: where a third of it is free and it is larger than the cache's policy allows, so that the room goes
    /// back to the disk; and after a scope was withdrawn, since SQLite overwrites what is deleted and leaves copies of what it
    /// had moved from one page to another. Takes as long as writing what is used; no reader waits.
    ///
    /// - Returns: false where neither is so, or only the second in a file above `wipedBytesMax` and the policy's bound.
    @discardableResult
    package func giveBack() throws -> Bool {
        guard path != nil else { return false }
        let (total, free, isUnwiped) = try writer.read { db in
            (try FileSize(db: db).total(), try FileSize(db: db).free(), try Meta.unwiped.integer(db) == 1)
        }
        let bytesMax = limits.cache.bytesMax
        let isWasteful = bytesMax.map { total > $0 && free >= total / 3 } ?? false
        guard isWasteful || (isUnwiped && total <= max(bytesMax ?? 0, Self.wipedBytesMax)) else { return false }
        try vacuum()
        return true
    }

    /// The largest file that is written anew only for what was withdrawn.
    private static var wipedBytesMax: Int64 { 128 << 20 }

    private func vacuum() throws {
        let first = path.map { FirstPage(beside: $0) }
        // Vacuuming moves tables: what says where they are must not be there when it is wrong.
        try first?.forget()
        try writer.writeWithoutTransaction { db in
            // Vacuuming may give rows other places. Nothing is indexed meanwhile, and what was is again when it is needed.
            try db.inTransaction {
                try searchUpkeep.forget(db)
                return .commit
            }
            try db.execute(sql: "VACUUM")
            try Meta.unwiped.set(0, db)
        }
        // The log has the pages of before.
        cutLog(isNeeded: true)
        // Without room for it there is none until the next opening.
        try? writer.read { db in try first?.note(db) }
    }
}
