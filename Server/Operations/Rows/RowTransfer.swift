package import TidemarkStore

/// Carries every row of one database into an empty one, whichever stores they are of. See `ROWS.md`.
package enum RowTransfer {
    /// Copies table by table, with memory for a few rows.
    ///
    /// - Parameter progress: receives the rows copied so far and the name of the table.
    /// - Returns: the sum of each table that was read.
    /// - Throws: what the source and the sink throw.
    package static func copy(
        from source: some RowSource, to sink: some RowSink, progress: (Int64, String) -> Void
    ) throws -> [StoredTable: RowSum] {
        var sums: [StoredTable: RowSum] = [:]
        var copied: Int64 = 0
        for table in StoredTable.all {
            var sum = RowSum()
            try sink.write(table) { put in
                try source.rows(of: table) { row in
                    try put(row)
                    sum.add(row)
                    copied += 1
                    if copied % 100 == 0 { progress(copied, table.name) }
                }
            }
            sums[table] = sum
        }
        return sums
    }

    /// Reads what was written and compares it with what was read.
    ///
    /// - Throws: ``BackupError`` of kind `damaged` that names each table that differs; what the target throws.
    package static func compare(
        _ sums: [StoredTable: RowSum], with target: some RowSource, progress: (Int64, String) -> Void
    ) throws {
        var wrong: [String] = []
        var read: Int64 = 0
        for table in StoredTable.all {
            var sum = RowSum()
            try target.rows(of: table) { row in
                sum.add(row)
                read += 1
                if read % 100 == 0 { progress(read, table.name) }
            }
            let expected = sums[table] ?? RowSum()
            if sum != expected { wrong.append("\(table.name): \(expected.rows) rows were read, \(sum.rows) are there") }
        }
        guard wrong.isEmpty else {
            throw BackupError(
                .damaged,
                "the tables that were written differ from those of the backup, and no server will open them. Check disk and"
                    + " memory, and run the same command again:\n" + wrong.joined(separator: "\n"))
        }
    }
}
