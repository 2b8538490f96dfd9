import GRDB
public import TidemarkModel

extension StoreSnapshot {
    /// Returns the rows of a query, by the names of its columns; `NULL` is absent.
    ///
    /// Collections are tables and fields are columns, next to `local_id`, `server_id`, `scope`, `server_time`,
    /// `created_time`, `author` and `state`. A set, a map and JSON are JSON text. `tidemark_scope (scope, since, role)`
    /// lists the held scopes. `tidemark_scope_page (scope, collection, floor, is_complete)` tells how far back their
    /// records are on the device: all from `floor` on, by `server_id`.
    /// - Throws: `StoreError` with `databaseFailed` for SQL that is wrong or that writes.
    public func rows(_ sql: String, _ arguments: [FieldValue] = []) throws -> [Fields] {
        var rows: [Fields] = []
        try query(sql, arguments) { columns, cursor in
            while try cursor.step() { rows.append(columns.fields(cursor.statement)) }
        }
        return rows
    }

    private func query(
        _ sql: String, _ arguments: [FieldValue], _ read: (NamedColumns, RowCursor) throws -> Void
    ) throws {
        try StoreError.naming { try run(sql, arguments, read) }
    }

    private func run(
        _ sql: String, _ arguments: [FieldValue], _ read: (NamedColumns, RowCursor) throws -> Void
    ) throws {
        let statement = try db.reading(sql)
        // Even if the connection could write; a commit has no columns.
        guard statement.isReadonly, statement.columnCount > 0 else {
            throw DatabaseError(resultCode: .SQLITE_READONLY, message: "a snapshot only reads", sql: sql)
        }
        let cursor = try RowCursor(statement, arguments.map { $0.argument })
        defer { cursor.close() }
        try read(NamedColumns(statement.columnNames), cursor)
    }

    /// Returns the rows of a query as values of the app's own type, whose properties have the names of the columns.
    ///
    ///     struct Load: Decodable { var status: OrderStatus; var number: Int; var oldest: Date? }
    ///     let loads = try snapshot.rows(
    ///         "SELECT status, count(*) AS number, min(received) AS oldest FROM orders GROUP BY status", as: Load.self)
    ///
    /// Columns are read like fields: a `Bool` from a number, a `Date` from milliseconds, a `UUID` from an id, a set or
    /// a nested struct from its JSON, an optional from `NULL`. A type of one value, such as `Int`, reads rows of one
    /// column.
    /// - Throws: `StoreError` with `coding`, which names the column, for a row that cannot be decoded; with
    ///   `databaseFailed` for SQL that is wrong or that writes.
    public func rows<Value: Decodable>(
        _ sql: String, _ arguments: [FieldValue] = [], as type: Value.Type
    ) throws -> [Value] {
        // Such a value is in the only column that is set.
        let isOneValue = type is any FieldConvertible.Type
        var values: [Value] = []
        try query(sql, arguments) { columns, cursor in
            let source = RowSource(columns, cursor.statement)
            defer { source.close() }
            while try cursor.step() {
                source.advance()
                do {
                    values.append(
                        try isOneValue ? onlyValue(source.fields()) : Value(from: ColumnDecoder(source: source)))
                } catch let error as DecodingError {
                    throw StoreError(.coding, "\(type): \(StoreError.reason(error))")
                }
            }
        }
        return values
    }

    private func onlyValue<Value: Decodable>(_ row: Fields) throws -> Value {
        guard row.entries.count == 1, let only = row.entries.first else {
            return try FieldDecoder(value: .object(row), source: .row).decode(Value.self)
        }
        return try FieldDecoder(value: only.value, key: FieldName(only.name), source: .column).decode(Value.self)
    }
}
