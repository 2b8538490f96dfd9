import GRDB
import TidemarkModel
import TidemarkWire

/// Brings a copy up to date that is older than what deletions the server remembers, inside the transaction of the welcome that
/// says so: all that is here is compared instead of being fetched again.
///
/// Until that is over the scopes count as being filled, and what is here stays to be seen. What differs is no mistake of the copy,
/// and is not told as one.
struct CopyFilling {
    private let database: LocalDatabase
    private let records: RecordTable

    private var db: Database { records.db }

    init(_ database: LocalDatabase, _ db: Database) {
        self.database = database
        records = RecordTable(db, database)
    }

    func begin(now: Milliseconds) throws {
        // From here on deletions come with the stream. Those before it are told by silence.
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

    /// What is here below the floors of collections is not compared: it is asked for by its ids.
    func fetchUncompared() throws {
        for name in database.tables.keys.sorted() { try fetchUncompared(name) }
    }

    /// What stands under pending writes is asked for by its ids as well. The row of one that is settled meanwhile does not come
    /// with the stream, which goes on from the head: until it is here the write itself must stand in for it.
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
