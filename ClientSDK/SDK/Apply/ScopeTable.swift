import GRDB
import TidemarkModel
import TidemarkWire

/// The scopes that this device holds, and how far each is filled.
struct ScopeTable {
    let db: Database

    /// A page that is still to come: not all of the collection is here, and more of it is wanted.
    static let isToCome = "is_complete = 0 AND (remaining IS NULL OR remaining > 0)"

    /// The grant under which a scope is held, and whether pages of it are still to come, or records by their ids.
    func held(_ scope: ScopeID) throws -> (since: SequenceNumber, isFilling: Bool)? {
        let sql = """
            SELECT since, is_complete = 0 AND (EXISTS (
                SELECT 1 FROM tidemark_scope_page AS p
                WHERE p.scope = tidemark_scope.scope AND p.is_complete = 0
                    AND (p.remaining IS NULL OR p.remaining > 0)
            ) OR EXISTS (SELECT 1 FROM tidemark_refetch AS r WHERE r.scope = tidemark_scope.scope))
            FROM tidemark_scope WHERE scope = ?
            """
        guard let row = try db.first(sql, [scope.text]) else { return nil }
        return (try row.integer(0), try row.integer(1) != 0)
    }

    /// True when pages of the scope are still to come.
    func isFilling(_ scope: ScopeID) throws -> Bool { try held(scope)?.isFilling == true }

    /// The same of any scope where none is named.
    func isFilling(anyOr scope: ScopeID?) throws -> Bool {
        if let scope { return try isFilling(scope) }
        return try db.exists("SELECT 1 FROM tidemark_refetch LIMIT 1")
            || db.exists("SELECT 1 FROM tidemark_scope_page WHERE \(Self.isToCome) LIMIT 1")
    }

    func all() throws -> [HeldScope] {
        try db.all("SELECT scope, since FROM tidemark_scope ORDER BY scope")
            .map { HeldScope(scope: ScopeID(try $0.text(0)), since: try $0.integer(1)) }
    }

    func setRole(_ role: Role, _ scope: ScopeID) throws {
        try db.run("UPDATE tidemark_scope SET role = ? WHERE scope = ?", [role.rawValue, scope.text])
        try noteChange()
    }

    func delete(_ scope: ScopeID) throws {
        try db.run("DELETE FROM tidemark_scope WHERE scope = ?", [scope.text])
        try db.run("DELETE FROM tidemark_scope_page WHERE scope = ?", [scope.text])
        for table in ["tidemark_tombstone", "tidemark_deletion", "tidemark_refetch"] {
            try db.run("DELETE FROM \(table) WHERE scope = ?", [scope.text])
        }
        try noteChange()
    }

    /// Tells observers who read how far scopes are filled: SQLite reports no changes of tables without a rowid.
    func noteChange() throws {
        for name in ["tidemark_scope", "tidemark_scope_page", "tidemark_refetch"] {
            try db.notifyChanges(in: Table(name))
        }
    }

    /// Once no page of the scope is to come, tombstones have done their work; and it is complete when nothing older was
    /// left at the server.
    ///
    /// - Returns: true when no page is to come.
    @discardableResult
    func endIfFilled(_ scope: ScopeID) throws -> Bool {
        let toCome = "SELECT 1 FROM tidemark_scope_page WHERE scope = ? AND \(Self.isToCome) LIMIT 1"
        let refetch = "SELECT 1 FROM tidemark_refetch WHERE scope = ? LIMIT 1"
        guard try !db.exists(toCome, [scope.text]), try !db.exists(refetch, [scope.text]) else { return false }
        try db.run(
            """
            UPDATE tidemark_scope SET is_complete = NOT EXISTS (
                SELECT 1 FROM tidemark_scope_page AS p WHERE p.scope = tidemark_scope.scope AND p.is_complete = 0
            )
            WHERE scope = ?
            """, [scope.text])
        try db.run("DELETE FROM tidemark_tombstone WHERE scope = ?", [scope.text])
        return true
    }
}
