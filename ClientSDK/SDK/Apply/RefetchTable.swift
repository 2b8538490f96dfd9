import GRDB
import TidemarkModel
import TidemarkWire

/// The records to request by their ids: their known state was taken back, or the app asks for one that is not on
/// the device. While there are any of a scope, the scope is being filled.
struct RefetchTable {
    let db: Database

    func add(_ key: RecordKey, scope: ScopeID) throws {
        try db.run(
            "INSERT OR IGNORE INTO tidemark_refetch (scope, collection, local_id) VALUES (?, ?, ?)",
            [scope.text, key.collection, key.id.description])
    }

    /// Returns at most one request for a collection of a scope; the sender numbers them.
    ///
    /// - Parameters:
    ///   - collection: the collection that comes first, by its name here.
    ///   - rows: the largest number of ids in a request.
    func requests(limit: Int, first collection: String?, rows: Int, _ names: CollectionNames) throws -> [PageRequest] {
        let places = """
            SELECT DISTINCT r.scope, s.since, r.collection
            FROM tidemark_refetch AS r
            JOIN tidemark_scope AS s ON s.scope = r.scope
            ORDER BY r.collection = ?1 DESC, r.scope, r.collection
            LIMIT ?2
            """
        return try db.all(places, [collection, limit]).map { row in
            let (scope, collection) = (try row.text(0), try row.text(2))
            let ids = try db.all(
                """
                SELECT local_id FROM tidemark_refetch WHERE scope = ? AND collection = ? ORDER BY local_id LIMIT ?
                """, [scope, collection, max(1, rows)]
            ).map { try $0.id(0) }
            return PageRequest(
                id: 0, scope: ScopeID(scope), since: try row.integer(1), collection: names.stored(collection),
                limit: ids.count, ids: ids)
        }
    }

    func holds(_ key: RecordKey, scope: ScopeID) throws -> Bool {
        try db.exists(
            "SELECT 1 FROM tidemark_refetch WHERE scope = ? AND collection = ? AND local_id = ?",
            [scope.text, key.collection, key.id.description])
    }

    func remove(_ key: RecordKey, scope: ScopeID) throws {
        try db.run(
            "DELETE FROM tidemark_refetch WHERE scope = ? AND collection = ? AND local_id = ?",
            [scope.text, key.collection, key.id.description])
    }

    /// Returns the collections of scopes in which there are records to request.
    func places() throws -> [(scope: ScopeID, collection: String)] {
        try db.all("SELECT DISTINCT scope, collection FROM tidemark_refetch ORDER BY scope, collection")
            .map { (ScopeID(try $0.text(0)), try $0.text(1)) }
    }
}
