import GRDB
import TidemarkModel
import TidemarkSQLite

/// A record's row and the keys of its entries, as needed to delete it.
struct FoundRow {
    let row: Int64
    let key: RecordKey
    let scope: ScopeID
    let place: Int64
    let seq: SequenceNumber
    let born: SequenceNumber
    let isDeleted: Bool

    static func at(_ row: Int64, _ db: Database) throws -> FoundRow? {
        try Prepared(CompactionSQL.record, db).first({ $0.integer(row) }) {
            FoundRow(
                row: row, key: RecordKey(collection: $0.text(), id: try $0.id()), scope: ScopeID($0.text()),
                place: $0.integer(), seq: $0.integer(), born: $0.integer(), isDeleted: $0.integer() != 0)
        }
    }

    /// Deletes the record, its entries in the indexes, and its ledger.
    ///
    /// - Returns: the count of ledger entries.
    @discardableResult
    func forget(in workspace: WorkspaceID, _ db: Database) throws -> Int {
        try Prepared(CompactionSQL.deleteRecord, db).execute { $0.integer(row) }
        try Prepared(CompactionSQL.deleteFeed, db).execute {
            $0.integer(place)
            $0.integer(seq)
        }
        if !isDeleted {
            try Prepared(CompactionSQL.deletePage, db).execute {
                $0.integer(place)
                $0.text(key.collection)
                $0.integer(born)
            }
        }
        return try Prepared(CompactionSQL.deleteLedger, db).execute { $0.key(workspace, key) }
    }
}
