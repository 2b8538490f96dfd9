import GRDB
import TidemarkModel
import TidemarkWire

/// Brings a copy up to date that is older than the deletions that the server remembers, inside the transaction of the
/// `behind` welcome: all records here are compared instead of being fetched again.
///
/// Until that ends the scopes are treated as being filled, and present records stay visible. Differences are no error
/// of the copy, and are not reported as one.
struct CopyFilling {
    private let database: LocalDatabase
    private let records: RecordTable

    private var db: Database { records.db }

    init(_ database: LocalDatabase, _ db: Database) {
        self.database = database
        records = RecordTable(db, database)
    }

    func begin(now: Milliseconds) throws {
        // From here on deletions arrive with the stream. Earlier ones are known only by a record's absence.
        let past = PastCursors(db: db)
        try past.forget()
        try DeletionLog(db: db, keptMax: 0).clear()
        try db.run("UPDATE tidemark_scope_page SET began = ?", [past.next()])
        try fetchUncompared()
        try fetchUnderPending()
        try ComparisonTable(db: db).begin(now: now, isFilling: true)
        try db.run(
            """
            UPDATE tidemark_scope SET is_complete = 0
            WHERE scope IN (SELECT scope FROM tidemark_compare UNION SELECT scope FROM tidemark_refetch)
            """)
        try ScopeTable(db: db).noteChange()
    }

    /// Requests the records below the floors of collections by their ids, since they are not compared.
    func fetchUncompared() throws {
        for name in database.tables.keys.sorted() { try fetchUncompared(name) }
    }

    /// Requests the records under pending writes by their ids as well. The row of a write that is settled meanwhile
    /// does not arrive with the stream, which continues from the head. Until it arrives the write itself must replace
    /// it.
    private func fetchUnderPending() throws {
        for row in try db.all("SELECT collection, local_id, scope FROM tidemark_base WHERE seq > 0") {
            let key = try row.key(0)
            try records.fetchAnew([key.id], of: key.collection, in: ScopeID(try row.text(2)))
        }
    }

    private func fetchUncompared(_ name: String) throws {
        let below = """
            scope = ? AND seq > 0 AND server_id IS NOT NULL AND (server_id < ? OR ? IS NULL)
            """
        let sql = "SELECT scope, floor FROM tidemark_scope_page WHERE collection = ? AND is_complete = 0"
        for row in try db.all(sql, [name]) {
            let (scope, floor) = (try row.text(0), try row.optionalInteger(1))
            let values: StatementArguments = [scope, floor, floor]
            let rows = "SELECT local_id FROM \(CollectionTable.quoted(name)) WHERE \(below)"
            let bases = "SELECT local_id FROM tidemark_base WHERE collection = ? AND existence = 'live' AND \(below)"
            let ids = try db.all(rows, values) + db.all(bases, [name] + values)
            try records.fetchAnew(try ids.map { try $0.id(0) }, of: name, in: ScopeID(scope))
        }
    }
}
