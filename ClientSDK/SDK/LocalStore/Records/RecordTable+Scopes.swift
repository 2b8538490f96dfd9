import GRDB
import TidemarkModel

/// Changes of all rows of a scope, when its records are fetched anew.
extension RecordTable {
    /// Deletes the scope's rows. Those with pending writes stay visible, and any state from the server replaces their
    /// bases.
    func forget(_ scope: ScopeID) throws {
        try deleteRows(of: scope)
        try db.run("DELETE FROM tidemark_history WHERE scope = ?", [scope.text])
        try outdateBases(of: scope)
    }

    /// Keeps the scope's rows visible until the server's replace them: any state that it sends is accepted.
    func outdate(_ scope: ScopeID) throws {
        for name in tables.keys.sorted() {
            try db.run("UPDATE \(CollectionTable.quoted(name)) SET seq = 0 WHERE scope = ?", [scope.text])
        }
        try outdateBases(of: scope)
    }

    /// Deletes the rows that the server has not confirmed, once all pages of the scope have arrived: it has none of
    /// them. Rows with pending writes are left to their settlement.
    func sweep(_ scope: ScopeID) throws { try deleteRows(of: scope, condition: "AND seq = 0") }

    private func deleteRows(of scope: ScopeID, condition: String = "") throws {
        for name in tables.keys.sorted() {
            let table = CollectionTable.quoted(name)
            try db.run(
                """
                DELETE FROM \(table)
                WHERE scope = ?1 \(condition) AND NOT \(Self.hasBase("?2", "\(table).local_id"))
                """, [scope.text, name])
        }
    }

    private func outdateBases(of scope: ScopeID) throws {
        try db.run("UPDATE tidemark_base SET seq = 0 WHERE scope = ?", [scope.text])
    }
}
