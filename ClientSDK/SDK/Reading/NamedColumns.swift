import GRDB
import GRDBSQLite
import TidemarkModel

/// The columns of a query by name, in the order of `Fields`, so that no row has to be sorted.
struct NamedColumns {
    private let columns: [(name: String, index: CInt)]

    /// - Parameter names: the names from left to right; of equal names, the last one is used.
    init(_ names: [String]) {
        var indexes: [String: CInt] = [:]
        for (index, name) in names.enumerated() { indexes[name] = CInt(index) }
        columns = indexes.map { (name: $0.key, index: $0.value) }.sorted { $0.name.byteOrder($1.name) < 0 }
    }

    var count: Int { columns.count }

    func name(_ index: Int) -> String { columns[index].name }

    /// Returns SQLite's number of the column at an index.
    func index(_ index: Int) -> CInt { columns[index].index }

    /// Returns the index of a name.
    func index(of name: String) -> Int? { columns.firstIndex { $0.name == name } }

    /// Returns the current row of a statement. `NULL` is treated as absent, and so are bytes, which no collection has.
    func fields(_ statement: SQLiteStatement) -> Fields {
        var entries: [Fields.Entry] = []
        entries.reserveCapacity(columns.count)
        for index in columns.indices {
            guard let value = value(index, statement) else { continue }
            entries.append(.init(name: columns[index].name, value: value))
        }
        return Fields(sorted: entries)
    }

    /// Returns one value of that row.
    func value(_ index: Int, _ statement: SQLiteStatement) -> FieldValue? {
        let column = columns[index].index
        switch sqlite3_column_type(statement, column) {
        case SQLITE_INTEGER: return .integer(sqlite3_column_int64(statement, column))
        case SQLITE_FLOAT: return .double(sqlite3_column_double(statement, column))
        case SQLITE_TEXT:
            // The text must be asked for before its length.
            let start = sqlite3_column_text(statement, column)
            let count = Int(sqlite3_column_bytes(statement, column))
            return .string(String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self))
        default: return nil
        }
    }
}
