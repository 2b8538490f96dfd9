import GRDB
import TidemarkModel
import TidemarkWire

/// The collections that a scope is filled with, and the start of filling.
struct ScopeFilling {
    let schema: Schema
    let db: Database
    let cache: CachePolicy

    /// Returns the turn in which a scope is filled, the highest first: shared scopes, since all others refer to them,
    /// then the newest grant.
    static func turn(of since: SequenceNumber) -> Int64 { since == 0 ? .max : since }

    /// Stores a scope with nothing filled yet.
    ///
    /// - Parameter isHeld: true when there may be rows of it.
    func start(_ scope: ScopeID, since: SequenceNumber, role: Role, isHeld: Bool = true) throws {
        if isHeld { try ScopeTable(db: db).delete(scope) } else { try ScopeTable(db: db).noteChange() }
        try db.run(
            "INSERT INTO tidemark_scope (scope, since, role, is_complete) VALUES (?, ?, ?, 0)",
            [scope.text, since, role.rawValue])
        let (collections, began) = (collections(of: scope), try PastCursors(db: db).next())
        for (position, collection) in collections.enumerated() {
            try db.run(
                """
                INSERT INTO tidemark_scope_page (scope, position, collection, floor, is_complete, remaining, began, turn)
                VALUES (?, ?, ?, NULL, 0, ?, ?, ?)
                """,
                [
                    scope.text, position, collection.name, cache.rowsWanted(of: collection), began,
                    Self.turn(of: since),
                ])
        }
        // A scope with pages to come is not filled yet.
        if !collections.contains(where: { cache.rowsWanted(of: $0) != 0 }) {
            try ScopeTable(db: db).endIfFilled(scope)
        }
    }

    /// Marks the held scopes as incomplete that may have records of a collection which is new to the app.
    func reopen(for collection: CollectionSchema) throws {
        for held in try ScopeTable(db: db).all() {
            guard let position = collections(of: held.scope).firstIndex(where: { $0.name == collection.name }) else {
                continue
            }
            try db.run(
                """
                INSERT OR IGNORE INTO tidemark_scope_page (
                    scope, position, collection, floor, is_complete, remaining, began, turn
                ) VALUES (?, ?, ?, NULL, 0, ?, ?, ?)
                """,
                [
                    held.scope.text, position, collection.name, cache.rowsWanted(of: collection),
                    PastCursors(db: db).next(), Self.turn(of: held.since),
                ])
            try db.run("UPDATE tidemark_scope SET is_complete = 0 WHERE scope = ?", [held.scope.text])
        }
    }

    /// Fills one collection of a held scope from the start: its rows stay visible until the server's replace them, or
    /// the scope is filled without them.
    func restart(_ collection: String, in scope: ScopeID) throws {
        guard let declared = schema.collection(collection) else { return }
        let key = [scope.text, collection]
        try db.run("UPDATE \(CollectionTable.quoted(collection)) SET seq = 0 WHERE scope = ?", [scope.text])
        try db.run("UPDATE tidemark_base SET seq = 0 WHERE scope = ? AND collection = ?", StatementArguments(key))
        try db.run("DELETE FROM tidemark_refetch WHERE scope = ? AND collection = ?", StatementArguments(key))
        try db.run(
            """
            UPDATE tidemark_scope_page SET floor = NULL, is_complete = 0, remaining = ?, began = ?
            WHERE scope = ? AND collection = ?
            """, [cache.rowsWanted(of: declared), PastCursors(db: db).next(), scope.text, collection])
        try db.run("UPDATE tidemark_scope SET is_complete = 0 WHERE scope = ?", [scope.text])
        try ScopeTable(db: db).noteChange()
    }

    /// Returns the collections whose records can belong to the scope: its own record first, then those that refer to
    /// it.
    private func collections(of scope: ScopeID) -> [CollectionSchema] {
        let isRecord = UniqueID(scope.text) != nil
        var own: [CollectionSchema] = []
        var members: [CollectionSchema] = []
        for collection in schema.collections {
            switch collection.scope {
            case .shared(let shared): if shared == scope { own.append(collection) }
            case .ownRecord: if isRecord { own.append(collection) }
            case .field(let name):
                // A reference always names a record.
                if isRecord || collection.field(name)?.type == .string { members.append(collection) }
            }
        }
        return own + members
    }
}
