import GRDB
import GRDBSQLite
import TidemarkModel
import TidemarkSQLite
import TidemarkStore

/// One of the connection's cached statements, driven through SQLite's own functions.
///
/// GRDB keeps the cache, the connection and its queue; binding and reading here cost neither existential values nor
/// `Data`. A statement is always left reset, also after an error. Use it only on the connection's queue, and do not run
/// the same SQL again from inside `each`.
struct Prepared {
    private let statement: SQLiteStatement
    private let connection: SQLiteConnection

    init(_ sql: String, _ db: Database) throws {
        guard let connection = db.sqliteConnection else { throw DatabaseError(resultCode: .SQLITE_MISUSE) }
        self.connection = connection
        statement = try db.cachedStatement(sql: sql).sqliteStatement
    }

    /// Runs a statement without rows and returns the count of changed rows.
    @discardableResult
    func execute(_ bind: (inout Binding) -> Void) throws -> Int {
        try forEach(bind) { _ in false }
        return Int(sqlite3_changes(connection))
    }

    /// Returns the first row, if there is one.
    func first<Value>(_ bind: (inout Binding) -> Void, _ read: (inout ColumnReader) throws -> Value) throws -> Value? {
        var value: Value?
        try forEach(bind) { row in
            value = try read(&row)
            return false
        }
        return value
    }

    /// Returns all rows.
    func all<Value>(_ bind: (inout Binding) -> Void, _ read: (inout ColumnReader) throws -> Value) throws -> [Value] {
        var values: [Value] = []
        try forEach(bind) { row in
            values.append(try read(&row))
            return true
        }
        return values
    }

    /// Reads rows in order until `each` returns false.
    func forEach(_ bind: (inout Binding) -> Void, _ each: (inout ColumnReader) throws -> Bool) throws {
        defer { sqlite3_reset(statement) }
        var binding = Binding(statement: statement)
        bind(&binding)
        try check(binding.code)
        while true {
            let code = sqlite3_step(statement)
            if code == SQLITE_DONE { return }
            guard code == SQLITE_ROW else { return try check(code) }
            var row = ColumnReader(statement: statement)
            if try !each(&row) { return }
        }
    }

    private func check(_ code: CInt) throws {
        guard code != SQLITE_OK else { return }
        throw DatabaseError(
            resultCode: ResultCode(rawValue: sqlite3_extended_errcode(connection)),
            message: String(cString: sqlite3_errmsg(connection)))
    }
}

extension Binding {
    mutating func id(_ id: UniqueID) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 36) { bytes in
            UniqueID.write(high: id.high, low: id.low, into: bytes)
            text(UnsafeBufferPointer(bytes))
        }
    }
}
