import GRDB
import TidemarkModel
import TidemarkWire

/// The scopes that this device holds, and the part of each that is filled.
struct ScopeTable {
    let db: Database

    /// The condition for a page to come: the collection is incomplete, and more of it is wanted.
    static let isToCome = "is_complete = 0 AND (remaining IS NULL OR remaining > 0)"

    /// The same condition for a table with another name.
    static func isToCome(in name: String) -> String {
        "\(name).is_complete = 0 AND (\(name).remaining IS NULL OR \(name).remaining > 0)"
    }

    /// The condition for a scope whose records are still being compared, since the copy came back from below the
    /// horizon. For a query that has a row of `tidemark_scope`.
    private static let isCompared = """
        EXISTS (SELECT 1 FROM tidemark_compare AS c WHERE c.scope = tidemark_scope.scope)
            AND EXISTS (SELECT 1 FROM tidemark_meta AS m WHERE m.key = '\(Meta.behind.rawValue)' AND m.value = 1)
        """

    /// Returns the grant under which a scope is held.
    func since(_ scope: ScopeID) throws -> SequenceNumber? {
        try db.first("SELECT since FROM tidemark_scope WHERE scope = ?", [scope.text])?.integer(0)
    }

    /// Returns the grant under which a scope is held, and whether it is being filled: pages, records by their ids, or
    /// the server's answer to a comparison are still to come.
    func held(_ scope: ScopeID) throws -> (since: SequenceNumber, isFilling: Bool)? {
        let sql = """
            SELECT since, is_complete = 0 AND (EXISTS (
                SELECT 1 FROM tidemark_scope_page AS p
                WHERE p.scope = tidemark_scope.scope AND p.is_complete = 0
                    AND (p.remaining IS NULL OR p.remaining > 0)
            ) OR EXISTS (SELECT 1 FROM tidemark_refetch AS r WHERE r.scope = tidemark_scope.scope) OR \(Self.isCompared))
            FROM tidemark_scope WHERE scope = ?
            """
        guard let row = try db.first(sql, [scope.text]) else { return nil }
        return (try row.integer(0), try row.integer(1) != 0)
    }

    /// Returns true when pages or single records of the scope are still to come, so that it cannot be compared.
    func isFetching(_ scope: ScopeID) throws -> Bool {
        let toCome = "SELECT 1 FROM tidemark_scope_page WHERE scope = ? AND \(Self.isToCome) LIMIT 1"
        return try db.exists(toCome, [scope.text])
            || db.exists("SELECT 1 FROM tidemark_refetch WHERE scope = ? LIMIT 1", [scope.text])
    }

    /// Returns true when the scope is being filled; see `held(_:)`.
    func isFilling(_ scope: ScopeID) throws -> Bool { try held(scope)?.isFilling == true }

    /// Returns the same; `nil` is for any scope.
    func isFilling(anyOr scope: ScopeID?) throws -> Bool {
        if let scope { return try isFilling(scope) }
        return try ComparisonTable(db: db).isFilling || db.exists("SELECT 1 FROM tidemark_refetch LIMIT 1")
            || db.exists("SELECT 1 FROM tidemark_scope_page WHERE \(Self.isToCome) LIMIT 1")
    }

    func all() throws -> [HeldScope] { try holdings().map(\.scope) }

    /// Returns all held scopes with their roles.
    func holdings() throws -> [Welcome.Holding] {
        try db.all("SELECT scope, since, role FROM tidemark_scope ORDER BY scope").map { row in
            let scope = HeldScope(scope: ScopeID(try row.text(0)), since: try row.integer(1))
            return (scope, Role(rawValue: try row.text(2)) ?? .member)
        }
    }

    func setRole(_ role: Role, _ scope: ScopeID) throws {
        try db.run("UPDATE tidemark_scope SET role = ? WHERE scope = ?", [role.rawValue, scope.text])
        try noteChange()
    }

    func delete(_ scope: ScopeID) throws {
        try db.run("DELETE FROM tidemark_scope WHERE scope = ?", [scope.text])
        try db.run("DELETE FROM tidemark_scope_page WHERE scope = ?", [scope.text])
        for table in ["tidemark_tombstone", "tidemark_deletion", "tidemark_refetch", "tidemark_compare"] {
            try db.run("DELETE FROM \(table) WHERE scope = ?", [scope.text])
        }
        try noteChange()
    }

    /// Notifies observers of the filling of scopes: SQLite reports no changes of tables without a rowid.
    func noteChange() throws {
        for name in ["tidemark_scope", "tidemark_scope_page", "tidemark_refetch"] {
            try db.notifyChanges(in: Table(name))
        }
    }

    /// Deletes the tombstones of a scope once none of its pages is to come. The scope is complete when nothing older
    /// was left at the server.
    ///
    /// - Returns: true when no page is to come.
    @discardableResult
    func endIfFilled(_ scope: ScopeID) throws -> Bool {
        let compared = "SELECT 1 FROM tidemark_scope WHERE scope = ? AND \(Self.isCompared)"
        guard try !isFetching(scope), try !db.exists(compared, [scope.text]) else { return false }
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
