import GRDB
import GRDBSQLite

/// The rows of one of the connection's cached statements, one after the other, without values.
///
/// GRDB takes the first step, so that a cancelled task does not begin. SQLite takes the others directly.
final class RowCursor: DatabaseCursor {
    typealias Element = Void
    let _statement: Statement
    var _isDone = false
    let statement: SQLiteStatement
    private var isBegun = false

    init(_ statement: Statement, _ arguments: [DatabaseValue]) throws {
        _statement = statement
        self.statement = statement.sqliteStatement
        guard sqlite3_bind_parameter_count(self.statement) == arguments.count else {
            // GRDB's error explains what is wrong with the number.
            try statement.setArguments(StatementArguments(arguments))
            return
        }
        sqlite3_reset(self.statement)
        for (index, argument) in arguments.enumerated() {
            let code = argument.bind(to: self.statement, at: CInt(index + 1))
            guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
        }
    }

    func _element(sqliteStatement: SQLiteStatement) throws {}

    /// Advances to the next row; returns false after the last one.
    func step() throws -> Bool {
        guard isBegun else {
            isBegun = true
            return try next() != nil
        }
        switch sqlite3_step(statement) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case SQLITE_INTERRUPT: throw CancellationError()
        case let code:
            let message = String(cString: sqlite3_errmsg(sqlite3_db_handle(statement)))
            throw DatabaseError(resultCode: ResultCode(rawValue: code), message: message)
        }
    }

    /// Ends the query. The error of a failed step was already thrown.
    func close() { sqlite3_reset(statement) }
}
