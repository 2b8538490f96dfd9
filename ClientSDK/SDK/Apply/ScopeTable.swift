import GRDB
import TidemarkModel
import TidemarkWire

/// The scopes that this device holds, and how far each is filled.
struct ScopeTable {
    let db: Database

    /// A page that is still to come: not all of the collection is here, and more of it is wanted.
    static let isToCome = "is_complete = 0 AND (remaining IS NULL OR remaining > 0)"

    /// The same where the table has another name.
    static func isToCome(in name: String) -> String {
        "\(name).is_complete = 0 AND (\(name).remaining IS NULL OR \(name).remaining > 0)"
    }

    /// Whether what is here of a scope is still being compared, since the copy came back from below the horizon; for a query in
    /// which `tidemark_scope` has a row.
    private static let isCompared = """
        EXISTS (SELECT 1 FROM tidemark_compare AS c WHERE c.scope = tidemark_scope.scope)
            AND EXISTS (SELECT 1 FROM tidemark_meta AS m WHERE m.key = '\(Meta.behind.rawValue)' AND m.value = 1)
        """

    /// The grant under which a scope is held.
    func since(_ scope: ScopeID) throws -> SequenceNumber? {
        try db.first("SELECT since FROM tidemark_scope WHERE scope = ?", [scope.text])?.integer(0)
    }

    /// The grant under which a scope is held, and whether pages of it are still to come, or records by their ids, or the word
    /// of the server on what is here.
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

    /// True when pages or single records of the scope are still to come, so that it cannot be compared.
    func isFetching(_ scope: ScopeID) throws -> Bool {
        let toCome = "SELECT 1 FROM tidemark_scope_page WHERE scope = ? AND \(Self.isToCome) LIMIT 1"
        return try db.exists(toCome, [scope.text])
            || db.exists("SELECT 1 FROM tidemark_refetch WHERE scope = ? LIMIT 1", [scope.text])
    }

    /// True when pages of the scope are still to come, or what is here is being compared.
    func isFilling(_ scope: ScopeID) throws -> Bool { try held(scope)?.isFilling == true }

    /// The same of any scope where none is named.
    func isFilling(anyOr scope: ScopeID?) throws -> Bool {
        if let scope { return try isFilling(scope) }
        return try ComparisonTable(db: db).isFilling || db.exists("SELECT 1 FROM tidemark_refetch LIMIT 1")
            || db.exists("SELECT 1 FROM tidemark_scope_page WHERE \(Self.isToCome) LIMIT 1")
    }

    func all() throws -> [HeldScope] { try holdings().map(\.scope) }

    /// All of them with their roles.
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
