import GRDB
import TidemarkModel

/// The readable table of one collection: its SQL, prepared once, and the conversion between records and rows.
///
/// One shared object: as a value with many parts it would be copied with every read.
final class CollectionTable: Sendable {
    let collection: CollectionSchema
    /// The schema of the database that contains the table.
    let schema: Schema
    let search: SearchIndex
    /// The table's name in SQL.
    let quotedName: String
    /// Reads a whole row by `local_id`, in the order of `envelope` and then the fields.
    let selectSQL: String
    /// The select list in the same order.
    let columnsSQL: String
    /// The number of columns in it.
    let columns: Int
    private let replaceSQL: String
    /// Statements that write a number of rows, whatever is stored.
    let putSQL: [(rows: Int, sql: String)]
    /// Statements that write a number of rows unless the stored ones are as new; most rows first, the last
    /// writes one.
    let applySQL: [(rows: Int, sql: String)]
    /// Deletes a row by `local_id`.
    let deleteSQL: String
    /// Deletes a row by `local_id` if it is older than a sequence number.
    let deleteOlderSQL: String

    /// Fields that had other names in earlier versions of the schema.
    let renames: [(from: String, to: String)]

    static let envelope = [
        "local_id", "server_id", "scope", "seq", "server_time", "created_time", "author", "state", "extra",
    ]

    init(_ collection: CollectionSchema, in schema: Schema) {
        self.collection = collection
        self.schema = schema
        search = SearchIndex(collection)
        renames = collection.renames
        let table = Self.quoted(collection.name)
        quotedName = table
        let columns = Self.envelope + collection.fields.map { Self.quoted($0.name) }
        columnsSQL = columns.joined(separator: ", ")
        selectSQL = "SELECT \(columnsSQL) FROM \(table) WHERE local_id = ?"
        self.columns = columns.count
        let assignments = columns.dropFirst().map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
        // An alias, since a collection may be called `excluded`.
        let insert = "INSERT INTO \(table) AS _kept (\(columnsSQL)) VALUES"
        let update = "ON CONFLICT (local_id) DO UPDATE SET \(assignments)"
        putSQL = ManyRows.statements(insert, columns: columns.count, update)
        replaceSQL = ManyRows.statement(insert, columns: columns.count, update)
        applySQL = ManyRows.statements(
            insert, columns: columns.count, "\(update) WHERE excluded.seq > _kept.seq")
        deleteSQL = "DELETE FROM \(table) WHERE local_id = ?"
        deleteOlderSQL = "DELETE FROM \(table) WHERE local_id = ? AND seq < ?"
    }

    /// Quotes a name that the schema checked, for SQL.
    ///
    /// Each name that a schema allows denotes a table or column when it is quoted. All other names in a statement begin
    /// with `_` or `tidemark_`, which no collection's name does, or are reserved for every record. Hence aliases begin
    /// with `_`, and the row's number is `_rowid_`, since a field may be called `rowid`. `TRUE` is not used, since it
    /// may be a column.
    static func quoted(_ name: String) -> String { "\"\(name)\"" }

    /// Writes a row, whatever is stored.
    func put(_ record: LocalRecord, state: RecordState, _ db: Database) throws {
        try db.run(replaceSQL, StatementArguments(values(record, state: state)))
    }

    /// Returns the parameters of one row, in the order of `columnsSQL`.
    func values(_ record: LocalRecord, state: RecordState) -> [DatabaseValue] {
        var values: [DatabaseValue] = []
        values.reserveCapacity(Self.envelope.count + collection.fields.count)
        values.append(record.key.id.description.databaseValue)
        values.append(record.born?.databaseValue ?? .null)
        values.append(record.scope.text.databaseValue)
        values.append(record.seq.databaseValue)
        values.append(record.updated?.databaseValue ?? .null)
        values.append(record.created.databaseValue)
        values.append(record.author.text.databaseValue)
        values.append(state.rawValue.databaseValue)
        values.append(.null)
        let extra = appendFields(record.fields, to: &values)
        if !extra.isEmpty { values[Self.envelope.count - 1] = FieldValue.object(extra).json.databaseValue }
        return values
    }

    /// Appends the values of the columns; returns the fields without a column. Both lists are sorted by the names'
    /// bytes, so one walk pairs them.
    private func appendFields(_ fields: Fields, to values: inout [DatabaseValue]) -> Fields {
        var extra = Fields()
        var rest = fields.entries[...]
        for field in collection.fields {
            var value = DatabaseValue.null
            while let entry = rest.first {
                if entry.name == field.name {
                    if let column = field.type.databaseValue(entry.value) {
                        value = column
                    } else {
                        extra[entry.name] = entry.value
                    }
                    rest = rest.dropFirst()
                    break
                }
                guard entry.name.utf8.lexicographicallyPrecedes(field.name.utf8) else { break }
                extra[entry.name] = entry.value
                rest = rest.dropFirst()
            }
            values.append(value)
        }
        for entry in rest { extra[entry.name] = entry.value }
        return extra
    }

    /// Returns the record of a row that was selected with `columnsSQL`.
    ///
    /// - Throws: `corrupt` when the row contains a value that this SDK never writes.
    func record(_ row: Row) throws -> (record: LocalRecord, state: RecordState) {
        guard let state = RecordState(rawValue: try row.text(7)) else {
            throw StoreError(.corrupt, "\(collection.name): unknown state")
        }
        var fields = Fields()
        if let extra = try row.optionalText(8) { fields = try JSONReader.read(Array(extra.utf8)) { try $0.fields() } }
        for (index, field) in collection.fields.enumerated() {
            if let value = try field.type.fieldValue(row[Self.envelope.count + index]) { fields[field.name] = value }
        }
        let record = LocalRecord(
            key: RecordKey(collection: collection.name, id: try row.id(0)), scope: ScopeID(try row.text(2)),
            seq: try row.integer(3), born: try row.optionalInteger(1), author: UserID(try row.text(6)),
            created: try row.integer(5), updated: try row.optionalInteger(4), existence: .live, fields: fields)
        return (record, state)
    }
}
