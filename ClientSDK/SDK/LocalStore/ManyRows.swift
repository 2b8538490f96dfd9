import GRDB
import GRDBSQLite
import TidemarkSQLite

/// Writes rows of one table, many with one statement, inside one transaction: a statement costs several times as much as
/// the row that it writes, and where a trigger keeps a full-text index, several times that.
final class ManyRows {
    /// How many rows a statement writes, most first; the last writes one.
    static let sizes = [64, 8, 1]

    private let db: Database
    private let columns: Int
    private let sql: [(rows: Int, sql: String)]
    private var values: [DatabaseValue] = []
    private var statements: [Int: Statement] = [:]
    /// Rows that were written.
    private(set) var written = 0

    /// - Parameter sql: for each of `sizes`, a statement with as many times `columns` parameters; see ``statements(_:_:_:)``.
    init(_ db: Database, columns: Int, _ sql: [(rows: Int, sql: String)]) {
        self.db = db
        self.columns = columns
        self.sql = sql
    }

    /// The statements of `sizes`, for this class alone: who has GRDB bind values to a statement has it bind them again
    /// whenever it runs. So their text is nobody else's.
    ///
    /// - Parameters:
    ///   - insert: up to `VALUES`.
    ///   - end: what stands behind the rows.
    static func statements(_ insert: String, columns: Int, _ end: String = "") -> [(rows: Int, sql: String)] {
        sizes.map { rows in
            let list = repeatElement(marks(columns), count: rows).joined(separator: ", ")
            return (rows, "\(insert) \(list) \(end) /* \(rows) rows */")
        }
    }

    /// The same for one row and everybody.
    static func statement(_ insert: String, columns: Int, _ end: String = "") -> String {
        "\(insert) \(marks(columns)) \(end)"
    }

    private static func marks(_ columns: Int) -> String {
        "(\(repeatElement("?", count: columns).joined(separator: ", ")))"
    }

    /// - Throws: `DatabaseError`, also for rows that were added before.
    func add(_ row: [DatabaseValue]) throws {
        values += row
        if values.count >= columns * (Self.sizes.first ?? 1) { try flush() }
    }

    /// Writes what was added and is not written yet.
    func flush() throws {
        defer { values.removeAll(keepingCapacity: true) }
        var rest = values[...]
        written += rest.count / columns
        for (rows, sql) in sql {
            while rest.count >= rows * columns {
                try write(rest.prefix(rows * columns), rows, sql)
                rest = rest.dropFirst(rows * columns)
            }
        }
    }

    /// Writes the rest and forgets the rows: the connection keeps its statements, and would keep the rows with them.
    func finish() throws {
        try flush()
        for statement in statements.values {
            sqlite3_reset(statement.sqliteStatement)
            sqlite3_clear_bindings(statement.sqliteStatement)
        }
    }

    private func write(_ values: ArraySlice<DatabaseValue>, _ rows: Int, _ sql: String) throws {
        let statement = try statement(rows, sql)
        // What it answers is what became of its last use, which was told then.
        sqlite3_reset(statement.sqliteStatement)
        var binding = Binding(statement: statement.sqliteStatement)
        for value in values { binding.value(value) }
        guard binding.code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: binding.code)) }
        try statement.execute()
    }

    /// Ready for values that are bound behind GRDB's back, which is several times as fast.
    private func statement(_ rows: Int, _ sql: String) throws -> Statement {
        if let known = statements[rows] { return known }
        let made = try db.cachedStatement(sql: sql)
        // GRDB then takes the arguments for complete, and leaves them as they are from then on.
        if made.arguments.isEmpty {
            try made.setArguments(StatementArguments(repeatElement(DatabaseValue.null, count: rows * columns)))
        }
        statements[rows] = made
        return made
    }
}
