import Foundation
import GRDBSQLite

/// SQLite's own C API with nothing around it: the standard of comparison for the SDK, on the same file.
///
/// It must not be used by two tasks at once.
final class RawSQLite {
    enum Value {
        case none
        case integer(Int64)
        case text(String)
    }

    private let handle: OpaquePointer?
    private var statements: [String: OpaquePointer] = [:]

    /// Opens the file with commits as durable as the SDK's.
    init(path: String) throws {
        var handle: OpaquePointer?
        let code = sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nil)
        self.handle = handle
        guard code == SQLITE_OK else { throw BenchError("SQLite \(code): \(path)") }
        sqlite3_busy_timeout(handle, 5_000)
        try run("PRAGMA synchronous = FULL")
    }

    deinit {
        for statement in statements.values { sqlite3_finalize(statement) }
        sqlite3_close_v2(handle)
    }

    /// Runs a statement, prepared once, and reads every column of every row.
    @discardableResult
    func run(_ sql: String, _ arguments: [Value] = []) throws -> [[Value]] {
        let statement = try statement(sql)
        defer { sqlite3_reset(statement) }
        for (index, argument) in arguments.enumerated() { bind(argument, Int32(index) + 1, statement) }
        var rows: [[Value]] = []
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_ROW: rows.append((0..<sqlite3_column_count(statement)).map { Self.column($0, statement) })
            case SQLITE_DONE: return rows
            default: throw BenchError("SQLite: \(String(cString: sqlite3_errmsg(handle))) in \(sql)")
            }
        }
    }

    /// Creates an empty table with the columns and indexes of another, without its triggers, which are the SDK's own.
    func copyShape(of table: String, to copy: String) throws {
        let sql = "SELECT sql FROM sqlite_master WHERE tbl_name = ? AND type IN ('table', 'index') AND sql IS NOT NULL"
        for row in try run(sql, [.text(table)]) {
            guard case .text(let text)? = row.first else { continue }
            try run(text.replacing(table, with: copy))
        }
    }

    /// The last error of SQLite.
    var failure: BenchError { BenchError("SQLite: \(String(cString: sqlite3_errmsg(handle)))") }

    func statement(_ sql: String) throws -> OpaquePointer {
        if let known = statements[sql] { return known }
        var made: OpaquePointer?
        guard sqlite3_prepare_v2(handle, sql, -1, &made, nil) == SQLITE_OK, let made else {
            throw BenchError("SQLite: \(String(cString: sqlite3_errmsg(handle))) in \(sql)")
        }
        statements[sql] = made
        return made
    }

    func bind(_ value: Value, _ index: Int32, _ statement: OpaquePointer) {
        switch value {
        case .none: sqlite3_bind_null(statement, index)
        case .integer(let number): sqlite3_bind_int64(statement, index, number)
        case .text(let text):
            // -1: SQLite copies the text.
            let copy = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
            sqlite3_bind_text(statement, index, text, Int32(text.utf8.count), copy)
        }
    }

    private static func column(_ index: Int32, _ statement: OpaquePointer) -> Value {
        switch sqlite3_column_type(statement, index) {
        case SQLITE_INTEGER: .integer(sqlite3_column_int64(statement, index))
        case SQLITE_TEXT: sqlite3_column_text(statement, index).map { .text(String(cString: $0)) } ?? .none
        default: .none
        }
    }
}
