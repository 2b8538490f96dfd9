import GRDB
import TidemarkModel

/// Writes the server's rows of one table, many with one statement, inside one transaction.
///
/// At the end of each statement that fires a trigger, SQLite flushes the full-text index from memory.
final class RowBatch {
    private let table: CollectionTable
    private let rows: ManyRows

    init(_ table: CollectionTable, _ db: Database) {
        self.table = table
        rows = ManyRows(db, columns: table.columns, table.applySQL)
    }

    /// - Throws: `DatabaseError`, also for rows that were added before.
    func add(_ record: LocalRecord, _ state: RecordState) throws { try rows.add(table.values(record, state: state)) }

    /// Writes the added rows that are not written yet. Later rows of the same record win over earlier ones.
    func flush() throws { try rows.flush() }
}
