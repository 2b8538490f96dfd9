/// A value of a column, whichever store keeps it.
package enum RowValue: Hashable, Sendable {
    case null
    /// Also of a boolean: 0 or 1.
    case integer(Int64)
    /// UTF-8.
    case text([UInt8])
    case bytes([UInt8])
}

/// A whole row: one value for each column of its ``StoredTable``, in the same order.
package typealias TableRow = [RowValue]

/// A database whose rows can be read table by table: a file, a server, or an archive.
package protocol RowSource {
    /// Reads every row of a table, in any order, with memory for a few of them. Blocks.
    ///
    /// - Throws: `StoreError` for a row that cannot be read; what `each` throws.
    func rows(of table: StoredTable, _ each: (TableRow) throws -> Void) throws
}

/// An empty database that rows are written into, table by table.
package protocol RowSink {
    /// Writes all rows of a table that `rows` passes on. Blocks.
    ///
    /// - Throws: `StoreError` for a row that the database refuses; what `rows` throws.
    func write(_ table: StoredTable, _ rows: ((TableRow) throws -> Void) throws -> Void) throws
}
