import CPostgres

/// The result of one statement, rows in binary form.
///
/// Reading is checked: another type, another size, NULL, or a row or column outside the result throws
/// ``PostgresError/decoding(_:)``.
///
/// `@unchecked Sendable`: libpq documents a `PGresult` as read-only after creation and safe to pass between threads;
/// this class only reads it and clears it once, with the last reference.
package final class ResultSet: @unchecked Sendable {
    private let raw: OpaquePointer
    package let rowCount: Int
    package let columnCount: Int

    /// Takes over the result.
    init(_ raw: OpaquePointer) {
        self.raw = raw
        rowCount = Int(PQntuples(raw))
        columnCount = Int(PQnfields(raw))
    }

    deinit { PQclear(raw) }

    /// Rows inserted, updated, deleted or selected; 0 for statements that count none.
    package var affectedRows: Int {
        Int(String(cString: PQcmdTuples(raw))) ?? 0
    }

    /// Whether the value is NULL.
    package func isNull(_ row: Int, _ column: Int) throws(PostgresError) -> Bool {
        try checkPosition(row, column)
        return PQgetisnull(raw, Int32(row), Int32(column)) == 1
    }

    /// A `bigint`.
    package func int64(_ row: Int, _ column: Int) throws(PostgresError) -> Int64 {
        Int64(bigEndian: try fixed(row, column, TypeOID.int8, as: Int64.self))
    }

    /// An `integer`.
    package func int32(_ row: Int, _ column: Int) throws(PostgresError) -> Int32 {
        Int32(bigEndian: try fixed(row, column, TypeOID.int4, as: Int32.self))
    }

    /// A `smallint`.
    package func int16(_ row: Int, _ column: Int) throws(PostgresError) -> Int16 {
        Int16(bigEndian: try fixed(row, column, TypeOID.int2, as: Int16.self))
    }

    /// A `boolean`.
    package func bool(_ row: Int, _ column: Int) throws(PostgresError) -> Bool {
        try fixed(row, column, TypeOID.bool, as: UInt8.self) != 0
    }

    /// A `uuid`, most significant half first.
    package func uuid(_ row: Int, _ column: Int) throws(PostgresError) -> (UInt64, UInt64) {
        let value = try fixed(row, column, TypeOID.uuid, as: (UInt64, UInt64).self)
        return (UInt64(bigEndian: value.0), UInt64(bigEndian: value.1))
    }

    /// A `text`, `varchar`, `char`, `name` or `json`; invalid UTF-8 is refused.
    package func text(_ row: Int, _ column: Int) throws(PostgresError) -> String {
        let value = try buffer(row, column)
        guard TypeOID.textual.contains(PQftype(raw, Int32(column))) else { throw wrongType(row, column) }
        guard let text = String(validating: value, as: UTF8.self) else {
            throw .decoding("row \(row), column \(column) is not UTF-8")
        }
        return text
    }

    /// A copy of the value in PostgreSQL's binary form, of any type; for `bytea` and text that is the value itself.
    package func bytes(_ row: Int, _ column: Int) throws(PostgresError) -> [UInt8] {
        [UInt8](try buffer(row, column))
    }
}

extension ResultSet {
    private func checkPosition(_ row: Int, _ column: Int) throws(PostgresError) {
        guard row >= 0, row < rowCount, column >= 0, column < columnCount else {
            throw .decoding("row \(row), column \(column) is outside a result of \(rowCount) by \(columnCount)")
        }
    }

    private func buffer(_ row: Int, _ column: Int) throws(PostgresError) -> UnsafeRawBufferPointer {
        try checkPosition(row, column)
        let length = Int(PQgetlength(raw, Int32(row), Int32(column)))
        if length == 0, PQgetisnull(raw, Int32(row), Int32(column)) == 1 {
            throw .decoding("row \(row), column \(column) is NULL")
        }
        return UnsafeRawBufferPointer(start: PQgetvalue(raw, Int32(row), Int32(column)), count: length)
    }

    @inline(__always)
    private func fixed<Value: BitwiseCopyable>(
        _ row: Int, _ column: Int, _ type: UInt32, as _: Value.Type
    ) throws(PostgresError) -> Value {
        let value = try buffer(row, column)
        guard PQftype(raw, Int32(column)) == type, PQfformat(raw, Int32(column)) == 1,
            value.count == MemoryLayout<Value>.size
        else { throw wrongType(row, column) }
        return value.loadUnaligned(as: Value.self)
    }

    private func wrongType(_ row: Int, _ column: Int) -> PostgresError {
        let found = PQftype(raw, Int32(column))
        return .decoding("row \(row), column \(column) has type \(found), which this access cannot read")
    }
}

extension ResultSet {
    /// libpq's classification of the result.
    var status: ExecStatusType { PQresultStatus(raw) }

    /// The server's SQLSTATE; `nil` if the server reported none: libpq itself then lost the protocol.
    var sqlState: String? {
        PQresultErrorField(raw, Int32(UInt8(ascii: "C"))).map { String(cString: $0) }
    }

    /// The server's primary message, shortened. Detail, hint and context are not read: they quote values.
    var serverMessage: String {
        guard let message = PQresultErrorField(raw, Int32(UInt8(ascii: "M"))) else { return "" }
        return String(String(cString: message).prefix(Self.messageCharactersMax))
    }

    private static let messageCharactersMax = 300
}
