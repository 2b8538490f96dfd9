import GRDB
import GRDBSQLite
import TidemarkSQLite

/// Writes rows of one table, many with one statement, inside one transaction. A statement costs several times as much
/// as the row that it writes, and several times that if a trigger updates a full-text index.
final class ManyRows {
    /// The numbers of rows that a statement writes, most first; the last writes one.
    static let sizes = [64, 8, 1]

    private let db: Database
    private let columns: Int
    private let sql: [(rows: Int, sql: String)]
    private var cells: [Cell] = []
    /// The texts of the cells, one after the other: SQLite reads them here, without copying.
    private var texts: [UInt8] = []
    private var statements: [Int: Statement] = [:]
    /// The number of rows written.
    private(set) var written = 0

    private enum Cell {
        /// A text with its length in bytes in `texts`.
        case text(Int)
        case other(DatabaseValue)
    }

    /// - Parameter sql: for each of `sizes`, a statement with as many times `columns` parameters; see
    ///   ``statements(_:_:_:)``.
    init(_ db: Database, columns: Int, _ sql: [(rows: Int, sql: String)]) {
        self.db = db
        self.columns = columns
        self.sql = sql
    }

    /// Returns the statements of `sizes`, for this class alone. If GRDB binds values to a statement, it binds them
    /// again whenever the statement runs; so no other code may use a statement of the same text.
    ///
    /// - Parameters:
    ///   - insert: the text up to `VALUES`.
    ///   - end: the text after the rows.
    static func statements(_ insert: String, columns: Int, _ end: String = "") -> [(rows: Int, sql: String)] {
        sizes.map { rows in
            let list = repeatElement(marks(columns), count: rows).joined(separator: ", ")
            return (rows, "\(insert) \(list) \(end) /* \(rows) rows */")
        }
    }

    /// Returns the statement for one row, for any code.
    static func statement(_ insert: String, columns: Int, _ end: String = "") -> String {
        "\(insert) \(marks(columns)) \(end)"
    }

    private static func marks(_ columns: Int) -> String {
        "(\(repeatElement("?", count: columns).joined(separator: ", ")))"
    }

    /// - Throws: `DatabaseError`, also for rows that were added before.
    func add(_ row: [DatabaseValue]) throws {
        for value in row {
            if case .string(let text) = value.storage {
                texts.append(contentsOf: text.utf8)
                cells.append(.text(text.utf8.count))
            } else {
                cells.append(.other(value))
            }
        }
        if cells.count >= columns * (Self.sizes.first ?? 1) { try flush() }
    }

    /// Writes the added rows that are not written yet.
    func flush() throws {
        defer {
            cells.removeAll(keepingCapacity: true)
            texts.removeAll(keepingCapacity: true)
        }
        written += cells.count / columns
        var (rest, offset) = (cells[...], 0)
        for (rows, sql) in sql {
            while rest.count >= rows * columns {
                offset = try write(rest.prefix(rows * columns), textsFrom: offset, rows, sql)
                rest = rest.dropFirst(rows * columns)
            }
        }
    }

    /// - Returns: the offset of the next rows' texts.
    private func write(
        _ cells: ArraySlice<Cell>, textsFrom start: Int, _ rows: Int, _ sql: String
    ) throws -> Int {
        let statement = try statement(rows, sql)
        // The connection keeps the statement, which must not point to freed texts. A reset returns the result of the
        // execution, which is reported already.
        defer {
            sqlite3_reset(statement.sqliteStatement)
            sqlite3_clear_bindings(statement.sqliteStatement)
        }
        return try texts.withUnsafeBufferPointer { texts in
            var (binding, offset) = (Binding(statement: statement.sqliteStatement), start)
            for cell in cells {
                switch cell {
                case .text(let bytes):
                    binding.text(lent: UnsafeBufferPointer(rebasing: texts[offset..<offset + bytes]))
                    offset += bytes
                case .other(let value): binding.value(value)
                }
            }
            guard binding.code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: binding.code)) }
            try statement.execute()
            return offset
        }
    }

    /// Returns a statement for values that are bound without GRDB, which is several times as fast.
    private func statement(_ rows: Int, _ sql: String) throws -> Statement {
        if let known = statements[rows] { return known }
        let made = try db.cachedStatement(sql: sql)
        // GRDB then regards the arguments as complete, and leaves them alone from then on.
        if made.arguments.isEmpty {
            try made.setArguments(StatementArguments(repeatElement(DatabaseValue.null, count: rows * columns)))
        }
        statements[rows] = made
        return made
    }
}
