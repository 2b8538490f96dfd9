import GRDB
import TidemarkModel

/// Writes the server's rows of one table, many with one statement, inside one transaction.
///
/// At the end of each statement that a trigger makes longer, SQLite has the full-text index write what it holds in memory:
/// with a statement for every row that takes a third of the time.
final class RowBatch {
    /// As SQLite itself would: each page that is new is merged into larger parts a few times.
    private static let rowsPerMergedPage = 4

    private let table: CollectionTable
    private let db: Database
    private let rows: ManyRows

    init(_ table: CollectionTable, _ db: Database) {
        self.table = table
        self.db = db
        rows = ManyRows(db, columns: table.columns, table.applySQL)
    }

    /// - Throws: `DatabaseError`, also for rows that were added before.
    func add(_ record: LocalRecord, _ state: RecordState) throws { try rows.add(table.values(record, state: state)) }

    /// Writes what was added and is not written yet. Later rows of the same record win over earlier ones.
    func flush() throws { try rows.flush() }

    /// Writes the rest. Many rows pay at once for what they add to the full-text index, so that its parts stay few.
    func finish() throws {
        try rows.finish()
        guard rows.written >= CollectionTable.rowsMax, table.search.isWanted else { return }
        _ = try table.search.merge(pages: rows.written / Self.rowsPerMergedPage, db)
    }
}
