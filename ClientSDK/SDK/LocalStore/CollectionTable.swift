import GRDB
import TidemarkModel

/// The readable table of one collection: its SQL, prepared once, and the way between records and rows.
///
/// One object that everyone shares: as a value with many parts it would be copied with every read.
final class CollectionTable: Sendable {
    let collection: CollectionSchema
    /// Of the database that the table is in.
    let schema: Schema
    let search: SearchIndex
    /// The table's name in SQL.
    let quotedName: String
    /// Reads a whole row by `local_id`, in the order of `envelope` and then the fields.
    let selectSQL: String
    /// The select list of the same order.
    let columnsSQL: String
    /// How many columns that are.
    let columns: Int
    private let replaceSQL: String
    /// Write so many rows whatever is there.
    let putSQL: [(rows: Int, sql: String)]
    /// Write so many rows unless what is there is as new; most rows first, the last writes one.
    let applySQL: [(rows: Int, sql: String)]
    /// Deletes by `local_id`.
    let deleteSQL: String
    /// Deletes by `local_id` what is older than a sequence number.
    let deleteOlderSQL: String

    /// Fields that had other names in earlier versions of the schema.
    let renames: [(from: String, to: String)]

    /// How many rows one statement writes at most; with the most fields of a schema still few enough for SQLite's bound of
    /// parameters.
    static let rowsMax = ManyRows.sizes[0]

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
        // Under another name, since a collection may be called `excluded`.
        let insert = "INSERT INTO \(table) AS _kept (\(columnsSQL)) VALUES"
        let update = "ON CONFLICT (local_id) DO UPDATE SET \(assignments)"
        putSQL = ManyRows.statements(insert, columns: columns.count, update)
        replaceSQL = ManyRows.statement(insert, columns: columns.count, update)
        applySQL = ManyRows.statements(
            insert, columns: columns.count, "\(update) WHERE excluded.seq > _kept.seq")
        deleteSQL = "DELETE FROM \(table) WHERE local_id = ?"
        deleteOlderSQL = "DELETE FROM \(table) WHERE local_id = ? AND seq < ?"
    }

    /// A name that the schema checked, quoted for SQL.
    ///
    /// Each name that a schema allows is a table's or column's when it is quoted. What else is in a statement beside them
    /// begins with `_` or `tidemark_`, which no collection does, or is a name that is reserved for each record: aliases, `_rowid_`
    /// for the row's number (a field may be called `rowid`), and no `TRUE`, which is a column where there is one.
    static func quoted(_ name: String) -> String { "\"\(name)\"" }

    /// Writes a row whatever was there.
    func put(_ record: LocalRecord, state: RecordState, _ db: Database) throws {
        try db.run(replaceSQL, StatementArguments(values(record, state: state)))
    }

    /// The parameters of one row, in the order of `columnsSQL`.
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

    /// Both lists are sorted by the names' bytes, so one walk pairs them; answers what found no column.
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

    /// Reads a row that was selected with `columnsSQL`.
    ///
    /// - Throws: `corrupt` when the row holds what this SDK never writes.
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
