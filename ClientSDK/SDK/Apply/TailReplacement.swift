import GRDB
import TidemarkModel
import TidemarkWire

/// Takes back what the copy has beyond the last number common with the server's order, inside the transaction of the
/// `rewound` welcome. `REWIND.md` explains why each step is sufficient.
///
/// Whatever the server still has of it arrives again. Records that were born or changed since arrive with the stream,
/// which continues at that number. Records that were changed or deleted only in the lost part are requested by their
/// ids.
struct TailReplacement {
    private let records: RecordTable
    private let filling: ScopeFilling
    private let account: UserID
    private let now: Milliseconds
    private let deletions: DeletionLog
    private let to: SequenceNumber
    private let held: Set<ScopeID>
    /// The number of rows read at a time.
    private static let rowsAtOnce = 500

    private var db: Database { records.db }

    init(_ database: LocalDatabase, _ db: Database, to: SequenceNumber, now: Milliseconds) throws {
        records = RecordTable(db, database)
        filling = ScopeFilling(schema: database.schema, db: db, cache: database.limits.cache)
        account = database.account
        deletions = DeletionLog(db: db, keptMax: database.limits.deletionsKept)
        held = Set(try ScopeTable(db: db).all().map(\.scope))
        self.to = to
        self.now = now
    }

    /// - Parameter end: the past cursor that the copy goes back to.
    /// - Returns: false when too little is known, and nothing was done: the copy has to be filled again.
    func run(end: String, rebase: inout Rebase) throws -> Bool {
        let past = PastCursors(db: db)
        guard let number = try past.number(of: end), try deletions.isComplete(after: to) else { return false }
        try past.forget(after: number)
        try takeBackRows()
        try takeBackBases(&rebase)
        try fetchDeleted()
        try db.run("DELETE FROM tidemark_tombstone WHERE seq > ?", [to])
        // Its numbers will be given again, to other writes.
        try db.run("DELETE FROM tidemark_history WHERE seq > ?", [to])
        try refill(begunAfter: number)
        try db.run(
            "UPDATE tidemark_scope SET is_complete = 0 WHERE scope IN (SELECT scope FROM tidemark_refetch)")
        try ScopeTable(db: db).noteChange()
        return true
    }

    /// Takes back a record as it was beyond ``to``. Every record that is deleted or outdated passes here once, before
    /// the change.
    ///
    /// - Returns: true if it has an older state, which is now requested.
    private func takeBack(_ record: LocalRecord) throws -> Bool {
        guard let born = record.born, born <= to, held.contains(record.scope) else { return false }
        try RefetchTable(db: db).add(record.key, scope: record.scope)
        return true
    }

    private func takeBackRows() throws {
        for (name, table) in records.tables.sorted(by: { $0.key < $1.key }) {
            let beyond = """
                SELECT \(table.columnsSQL) FROM \(table.quotedName)
                WHERE seq > ? AND NOT EXISTS (
                    SELECT 1 FROM tidemark_base
                WHERE tidemark_base.collection = ? AND tidemark_base.local_id = \(table.quotedName).local_id
                )
                LIMIT ?
                """
            let outdate = "UPDATE \(table.quotedName) SET seq = 0 WHERE local_id = ?"
            while case let rows = try db.all(beyond, [to, name, Self.rowsAtOnce]), !rows.isEmpty {
                for row in rows {
                    let record = try table.record(row).record
                    try db.run(try takeBack(record) ? outdate : table.deleteSQL, [record.key.id.description])
                }
            }
        }
    }

    /// Takes back the bases under pending writes; the writes stay.
    private func takeBackBases(_ rebase: inout Rebase) throws {
        for row in try db.all("SELECT collection, local_id FROM tidemark_base WHERE seq > ?", [to]) {
            let key = try row.key(0)
            guard var base = try records.base(key) else { continue }
            if try takeBack(base) {
                base.seq = 0
            } else {
                base = LocalRecord(absent: key, scope: base.scope, author: account, created: now)
            }
            try records.saveBase(base)
            rebase.touch(key)
        }
    }

    private func fetchDeleted() throws {
        try db.run(
            """
            INSERT OR IGNORE INTO tidemark_refetch (scope, collection, local_id)
            SELECT scope, collection, local_id FROM tidemark_deletion
            WHERE seq > ?1 AND scope IN (SELECT scope FROM tidemark_scope)
            """, [to])
        try db.run("DELETE FROM tidemark_deletion WHERE seq > ?", [to])
    }

    /// Fills collections again: deletions between the common number and the beginning of their filling were never sent
    /// to this copy.
    private func refill(begunAfter number: Int64) throws {
        for row in try db.all("SELECT scope, collection FROM tidemark_scope_page WHERE began > ?", [number]) {
            try filling.restart(try row.text(1), in: ScopeID(try row.text(0)))
        }
    }
}
