import GRDB
import TidemarkModel
import TidemarkWire

/// The scopes that this device holds, and how far each is filled.
struct ScopeTable {
    let db: Database

    /// The grant under which a scope is held, and whether all of its records are here.
    func held(_ scope: ScopeID) throws -> (since: SequenceNumber, isComplete: Bool)? {
        let sql = "SELECT since, is_complete FROM tidemark_scope WHERE scope = ?"
        guard let row = try db.first(sql, [scope.text]) else { return nil }
        return (try row.integer(0), try row.integer(1) != 0)
    }

    /// True when pages of the scope are still to come.
    func isFilling(_ scope: ScopeID) throws -> Bool { try held(scope)?.isComplete == false }

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
        try db.run("DELETE FROM tidemark_tombstone WHERE scope = ?", [scope.text])
        try noteChange()
    }

    /// Tells observers who read how far scopes are filled: SQLite reports no changes of tables without a rowid.
    func noteChange() throws {
        for name in ["tidemark_scope", "tidemark_scope_page"] { try db.notifyChanges(in: Table(name)) }
    }

    /// Marks the scope complete once all of its collections are; tombstones have then done their work.
    ///
    /// - Returns: true when it is complete.
    @discardableResult
    func completeIfFilled(_ scope: ScopeID) throws -> Bool {
        let open = "SELECT 1 FROM tidemark_scope_page WHERE scope = ? AND is_complete = 0 LIMIT 1"
        guard try !db.exists(open, [scope.text]) else { return false }
        try db.run("UPDATE tidemark_scope SET is_complete = 1 WHERE scope = ?", [scope.text])
        try db.run("DELETE FROM tidemark_tombstone WHERE scope = ?", [scope.text])
        return true
    }
}
