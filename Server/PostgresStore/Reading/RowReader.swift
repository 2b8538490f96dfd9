import TidemarkModel
import TidemarkPostgres
import TidemarkStore

/// Reads the columns of one row from the first to the last.
struct RowReader {
    private let source: ResultSet
    private let row: Int
    private var column = 0

    init(_ result: ResultSet, _ row: Int) {
        source = result
        self.row = row
    }

    mutating func small() throws -> Int16 { try source.int16(row, next()) }

    mutating func integer() throws -> Int64 { try source.int64(row, next()) }

    mutating func bool() throws -> Bool { try source.bool(row, next()) }

    mutating func text() throws -> String { try source.text(row, next()) }

    mutating func bytes() throws -> [UInt8] { try source.bytes(row, next()) }

    mutating func id() throws -> UniqueID {
        let halves = try source.uuid(row, next())
        return UniqueID(high: halves.0, low: halves.1)
    }

    /// `nil` for NULL.
    mutating func optionalInteger() throws -> Int64? { try isNull() ? skip() : integer() }

    /// `nil` for NULL.
    mutating func optionalText() throws -> String? { try isNull() ? skip() : text() }

    /// `nil` for NULL.
    mutating func optionalBytes() throws -> [UInt8]? { try isNull() ? skip() : source.bytes(row, next()) }

    /// Whether the next column is NULL.
    func isNull() throws -> Bool { try source.isNull(row, column) }

    mutating func skip<Value>() -> Value? {
        column += 1
        return nil
    }

    private mutating func next() -> Int {
        defer { column += 1 }
        return column
    }
}

extension ResultSet {
    /// Returns all rows, in order.
    func all<Value>(_ read: (inout RowReader) throws -> Value) throws -> [Value] {
        try (0..<rowCount).map { row in
            var reader = RowReader(self, row)
            return try read(&reader)
        }
    }

    /// Returns the first row, if there is one.
    func first<Value>(_ read: (inout RowReader) throws -> Value) throws -> Value? {
        guard rowCount > 0 else { return nil }
        var reader = RowReader(self, 0)
        return try read(&reader)
    }
}

/// The rows as the contract's values. Each call names the columns that its query must return, in this order.
extension RowReader {
    static let headColumns = "seq, nonce, time, epoch"
    static let storedClientColumns = "client, user_id, settled, acked, connection, kept"
    static let grantColumns = "scope, since, role"

    static let recordColumns = (envelope + ["body"]).joined(separator: ", ")

    /// The columns of a record and those that only a plan needs.
    static let storedRecordColumns = recordColumns + ", buried"

    /// The columns of a record without its body.
    static func envelopeColumns(of table: String) -> String {
        envelope.map { "\(table).\($0)" }.joined(separator: ", ")
    }

    private static let envelope = [
        "collection", "id", "scope", "seq", "born", "deleted", "author", "created", "updated",
    ]

    mutating func head() throws -> Head {
        Head(
            seq: try integer(), nonce: UInt64(bitPattern: try integer()), time: try integer(), epoch: try integer())
    }

    mutating func record() throws -> StoredRecord {
        StoredRecord(
            key: RecordKey(collection: try text(), id: try id()), scope: ScopeID(try text()), seq: try integer(),
            born: try integer(), isDeleted: try bool(), author: UserID(try text()), created: try integer(),
            updated: try integer(), body: try optionalBytes() ?? [])
    }

    mutating func storedRecord() throws -> StoredRecord {
        var record = try record()
        let buried = try optionalBytes() ?? []
        if record.isDeleted { record.buried = buried }
        return record
    }

    mutating func storedClient() throws -> StoredClient {
        let row = ClientRow(
            id: try id(), user: UserID(try text()), settledThrough: try integer(), ackedThrough: try integer(),
            connection: try integer())
        return try StoredClient(row: row, keptBytes: try bytes())
    }

    mutating func grant() throws -> Grant {
        Grant(scope: ScopeID(try text()), since: try integer(), role: try role())
    }

    mutating func role() throws -> Role {
        guard let role = Role(rawValue: try text()) else { throw StoreError(.invariant, "a stored role is unknown") }
        return role
    }
}
