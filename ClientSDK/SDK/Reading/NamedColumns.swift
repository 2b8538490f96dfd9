import GRDBSQLite
import TidemarkModel

/// The columns of a query by name, in the order that fields have, so that no row has to be sorted.
struct NamedColumns {
    private let columns: [(name: String, index: CInt)]

    /// - Parameter names: from left to right; of equal names, the last counts.
    init(_ names: [String]) {
        var indexes: [String: CInt] = [:]
        for (index, name) in names.enumerated() { indexes[name] = CInt(index) }
        columns = indexes.map { (name: $0.key, index: $0.value) }.sorted { $0.name.byteOrder($1.name) < 0 }
    }

    /// The row that a statement stands at; `NULL` is absent, and so are bytes, which no collection has.
    func fields(_ statement: OpaquePointer) -> Fields {
        var entries: [Fields.Entry] = []
        entries.reserveCapacity(columns.count)
        for column in columns {
            switch sqlite3_column_type(statement, column.index) {
            case SQLITE_INTEGER:
                let number = sqlite3_column_int64(statement, column.index)
                entries.append(.init(name: column.name, value: .integer(number)))
            case SQLITE_FLOAT:
                let number = sqlite3_column_double(statement, column.index)
                entries.append(.init(name: column.name, value: .double(number)))
            case SQLITE_TEXT:
                // The text must be asked for before its length.
                let start = sqlite3_column_text(statement, column.index)
                let count = Int(sqlite3_column_bytes(statement, column.index))
                let text = String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
                entries.append(.init(name: column.name, value: .string(text)))
            default: continue
            }
        }
        return Fields(sorted: entries)
    }
}
