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
    private var cells: [Cell] = []
    /// The texts of the cells, one after the other: SQLite reads them here, and copies none into memory of its own.
    private var texts: [UInt8] = []
    private var statements: [Int: Statement] = [:]
    /// Rows that were written.
    private(set) var written = 0

    private enum Cell {
        /// So many bytes of `texts`.
        case text(Int)
        case other(DatabaseValue)
    }

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

    /// Writes what was added and is not written yet.
    func flush() throws {
        defer {
            cells.removeAll(keepingCapacity: true)
            texts.removeAll(keepingCapacity: true)
        }
        written += cells.count / columns
        var (rest, place) = (cells[...], 0)
        for (rows, sql) in sql {
            while rest.count >= rows * columns {
                place = try write(rest.prefix(rows * columns), textsFrom: place, rows, sql)
                rest = rest.dropFirst(rows * columns)
            }
        }
    }

    /// - Returns: where the texts of the next rows begin.
    private func write(
        _ cells: ArraySlice<Cell>, textsFrom start: Int, _ rows: Int, _ sql: String
    ) throws -> Int {
        let statement = try statement(rows, sql)
        // The connection keeps the statement, which must not point to texts that are gone. What a reset answers is what became
        // of the execution, which is told already.
        defer {
            sqlite3_reset(statement.sqliteStatement)
            sqlite3_clear_bindings(statement.sqliteStatement)
        }
        return try texts.withUnsafeBufferPointer { texts in
            var (binding, place) = (Binding(statement: statement.sqliteStatement), start)
            for cell in cells {
                switch cell {
                case .text(let bytes):
                    binding.text(lent: UnsafeBufferPointer(rebasing: texts[place..<place + bytes]))
                    place += bytes
                case .other(let value): binding.value(value)
                }
            }
            guard binding.code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: binding.code)) }
            try statement.execute()
            return place
        }
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
