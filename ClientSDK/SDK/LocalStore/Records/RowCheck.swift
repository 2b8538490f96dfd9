import GRDB
import GRDBSQLite
import TidemarkSQLite

/// Checks whether a query gives a row, inside one transaction, without reading it. That is several times as fast as
/// reading it, if most answers are no.
final class RowCheck {
    private let db: Database
    private let statement: Statement

    /// - Parameters:
    ///   - condition: the text after `SELECT 1 FROM`; its parameters are texts.
    ///   - parameters: the number of parameters.
    init(_ db: Database, _ condition: String, parameters: Int) throws {
        self.db = db
        // As in `ManyRows`, only this class uses the text, and GRDB regards the arguments as complete.
        statement = try db.cachedStatement(sql: "SELECT 1 FROM \(condition) /* whether */")
        if parameters > 0, statement.arguments.isEmpty {
            try statement.setArguments(StatementArguments(repeatElement(DatabaseValue.null, count: parameters)))
        }
    }

    /// - Throws: `DatabaseError`.
    func holds(_ texts: String...) throws -> Bool {
        var binding = Binding(statement: statement.sqliteStatement)
        for text in texts { binding.text(text) }
        guard binding.code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: binding.code)) }
        let code = sqlite3_step(statement.sqliteStatement)
        defer { sqlite3_reset(statement.sqliteStatement) }
        switch code {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default:
            let message = sqlite3_errmsg(db.sqliteConnection).map { String(cString: $0) }
            throw DatabaseError(resultCode: ResultCode(rawValue: code), message: message, sql: statement.sql)
        }
    }
}
