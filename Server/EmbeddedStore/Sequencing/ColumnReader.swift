import GRDB
import GRDBSQLite
import TidemarkModel
import TidemarkStore

/// Reads the columns of the current row from the first to the last.
struct ColumnReader {
    let statement: SQLiteStatement
    private var index: CInt = 0

    init(statement: SQLiteStatement) { self.statement = statement }

    mutating func integer() -> Int64 { sqlite3_column_int64(statement, next()) }

    mutating func text() -> String { withBytes { String(decoding: $0, as: UTF8.self) } }

    mutating func bytes() -> [UInt8] { withBytes { Array($0) } }

    /// Reads a column that holds bytes, not text.
    mutating func blob() -> [UInt8] {
        let column = next()
        let bytes = sqlite3_column_blob(statement, column)
        return Array(UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(statement, column))))
    }

    /// `nil` for NULL.
    mutating func optionalText() -> String? { isNull ? skip() : text() }

    /// `nil` for NULL.
    mutating func optionalInteger() -> Int64? { isNull ? skip() : integer() }

    /// `nil` for NULL.
    mutating func optionalBytes() -> [UInt8]? { isNull ? skip() : bytes() }

    mutating func id() throws -> UniqueID {
        guard let id = withBytes({ UniqueID(utf8: $0) }) else {
            throw StoreError(.invariant, "a stored id is not a UUID")
        }
        return id
    }

    private var isNull: Bool { sqlite3_column_type(statement, index) == SQLITE_NULL }

    private mutating func skip<Value>() -> Value? {
        index += 1
        return nil
    }

    private mutating func withBytes<Value>(_ body: (UnsafeBufferPointer<UInt8>) -> Value) -> Value {
        let column = next()
        // SQLite requires the text to be read before its length.
        let text = sqlite3_column_text(statement, column)
        return body(UnsafeBufferPointer(start: text, count: Int(sqlite3_column_bytes(statement, column))))
    }

    private mutating func next() -> CInt {
        defer { index += 1 }
        return index
    }
}

/// The rows as the contract's values. Each call names the columns that its query must return, in this order.
extension ColumnReader {
    static let headColumns = "seq, nonce, time, epoch"
    static let recordColumns = "collection, id, scope, seq, born, deleted, author, created, updated, body"
    /// The columns of a record and those that only a plan needs.
    static let storedRecordColumns = recordColumns + ", buried"
    static let storedClientColumns = "client, user, settled, acked, connection, kept"
    static let grantColumns = "scope, since, role"

    mutating func head() -> Head {
        Head(seq: integer(), nonce: UInt64(bitPattern: integer()), time: integer(), epoch: integer())
    }

    mutating func record() throws -> StoredRecord {
        StoredRecord(
            key: RecordKey(collection: text(), id: try id()), scope: ScopeID(text()), seq: integer(), born: integer(),
            isDeleted: integer() != 0, author: UserID(text()), created: integer(), updated: integer(),
            body: optionalBytes() ?? [])
    }

    mutating func storedRecord() throws -> StoredRecord {
        var record = try record()
        let buried = optionalBytes() ?? []
        if record.isDeleted { record.buried = buried }
        return record
    }

    mutating func storedClient() throws -> StoredClient {
        let row = ClientRow(
            id: try id(), user: UserID(text()), settledThrough: integer(), ackedThrough: integer(),
            connection: integer())
        return try StoredClient(row: row, keptBytes: optionalBytes() ?? [])
    }

    mutating func grant() throws -> Grant {
        let scope = ScopeID(text())
        let since = integer()
        guard let role = Role(rawValue: text()) else { throw StoreError(.invariant, "a stored role is unknown") }
        return Grant(scope: scope, since: since, role: role)
    }
}
