import GRDB
import GRDBSQLite
import TidemarkModel
import TidemarkSQLite

/// Writes the server's rows of one table, many with one statement, inside one transaction.
///
/// At the end of each statement that a trigger makes longer, SQLite has the full-text index write what it holds in memory:
/// with a statement for every row that takes a third of the time.
final class RowBatch {
    /// As SQLite itself would: each page that is new is merged into larger parts a few times.
    private static let rowsPerMergedPage = 4

    private let table: CollectionTable
    private let db: Database
    private var rows: [(record: LocalRecord, state: RecordState)] = []
    private var statements: [Int: Statement] = [:]
    private var written = 0

    init(_ table: CollectionTable, _ db: Database) {
        self.table = table
        self.db = db
    }

    /// - Throws: `DatabaseError`, also for rows that were added before.
    func add(_ record: LocalRecord, _ state: RecordState) throws {
        rows.append((record, state))
        if rows.count >= CollectionTable.rowsMax { try flush() }
    }

    /// Writes what was added and is not written yet. Later rows of the same record win over earlier ones.
    func flush() throws {
        defer { rows.removeAll(keepingCapacity: true) }
        written += rows.count
        var rest = rows[...]
        for (count, sql) in table.applySQL {
            while rest.count >= count {
                try write(rest.prefix(count), sql)
                rest = rest.dropFirst(count)
            }
        }
    }

    /// Writes the rest. Many rows pay at once for what they add to the full-text index, so that its parts stay few.
    func finish() throws {
        try flush()
        // The connection keeps its statements, and would keep the rows with them.
        for statement in statements.values {
            sqlite3_reset(statement.sqliteStatement)
            sqlite3_clear_bindings(statement.sqliteStatement)
        }
        guard written >= CollectionTable.rowsMax, table.search.isWanted else { return }
        _ = try table.search.merge(pages: written / Self.rowsPerMergedPage, db)
    }

    private func write(_ rows: ArraySlice<(record: LocalRecord, state: RecordState)>, _ sql: String) throws {
        let statement = try statement(rows.count, sql)
        // What it answers is what became of its last use, which was told then.
        sqlite3_reset(statement.sqliteStatement)
        var binding = Binding(statement: statement.sqliteStatement)
        for row in rows { for value in table.values(row.record, state: row.state) { binding.value(value) } }
        guard binding.code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: binding.code)) }
        try statement.execute()
    }

    /// Ready for values that are bound behind GRDB's back, which is several times as fast.
    private func statement(_ rows: Int, _ sql: String) throws -> Statement {
        if let known = statements[rows] { return known }
        let made = try db.cachedStatement(sql: sql)
        // GRDB then takes the arguments for complete, and leaves them as they are.
        let count = Int(sqlite3_bind_parameter_count(made.sqliteStatement))
        try made.setArguments(StatementArguments(repeatElement(DatabaseValue.null, count: count)))
        statements[rows] = made
        return made
    }
}
