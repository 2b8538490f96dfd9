import GRDB
package import TidemarkStore

extension EmbeddedSnapshot: RowSource {
    /// See `RowSource.rows`: one pass over the table, in the order in which SQLite keeps it.
    package func rows(of table: StoredTable, _ each: (TableRow) throws -> Void) throws {
        try table.read(table.isOfBlobs ? blobs : records, each)
    }
}

extension StoredTable {
    /// Reads every row.
    func read(_ db: Database, _ each: (TableRow) throws -> Void) throws {
        do {
            let names = columns.map(\.name).joined(separator: ", ")
            try Prepared("SELECT \(names) FROM \(name)", db).forEach({ _ in }) { reader in
                try each(columns.map { reader.value($0.kind) })
                return true
            }
        } catch let error as DatabaseError {
            let error = StoreError(sqlite: error)
            throw StoreError(error.kind, "\(name): \(error.reason)", fault: error.fault)
        }
    }
}

extension ColumnReader {
    fileprivate mutating func value(_ kind: StoredTable.Column.Kind) -> RowValue {
        switch kind {
        case .text: optionalBytes().map { .text($0) } ?? .null
        case .integer, .boolean: optionalInteger().map { .integer($0) } ?? .null
        case .bytes: .bytes(blob())
        }
    }
}
