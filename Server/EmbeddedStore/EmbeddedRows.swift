import GRDB
import TidemarkModel
import TidemarkStore

/// Reads the tables of both files for an audit: one pass through each, with one row in memory.
struct EmbeddedRows {
    let records: Database
    let blobs: Database

    func all(_ each: (StoredRow) throws -> Void) throws {
        try read(records, "sync_workspace", "workspace, horizon", each) { row in
            .workspace(WorkspaceID(row.text()), horizon: row.integer())
        }
        try read(records, "sync_batch", "workspace, low, \(ColumnReader.headColumns)", each) { row in
            .batch(WorkspaceID(row.text()), low: row.integer(), head: row.head())
        }
        try read(records, "sync_record", "workspace, \(ColumnReader.recordColumns)", each) { row in
            .record(WorkspaceID(row.text()), try row.record())
        }
        try filing(each)
        try read(
            records, "sync_client", "workspace, client, user, settled, acked, connection, kept", each
        ) { row in
            .client(
                WorkspaceID(row.text()),
                ClientRow(
                    id: try row.id(), user: UserID(row.text()), settledThrough: row.integer(),
                    ackedThrough: row.integer(), connection: row.integer()), kept: row.bytes())
        }
        try read(records, "sync_member", "workspace, user, scope, role, since", each) { row in
            .member(
                WorkspaceID(row.text()), UserID(row.text()), ScopeID(row.text()), role: row.text(),
                since: row.integer())
        }
        try read(records, "sync_ledger", "workspace, collection, id, seq, rule, old, new", each) { row in
            .ledger(
                WorkspaceID(row.text()), RecordKey(collection: row.text(), id: try row.id()),
                StoredLedgerValue(
                    seq: row.integer(), rule: row.text(), old: row.optionalBytes(), new: row.optionalBytes()))
        }
        try blobRows(each)
    }

    private func blobRows(_ each: (StoredRow) throws -> Void) throws {
        try read(blobs, "sync_blob", "workspace, digest, octets", each) { row in
            let workspace = WorkspaceID(row.text())
            return .blob(workspace, try Self.digest(row.text()), bytes: row.integer())
        }
        // In the order of the key: the parts of a blob follow each other.
        try read(
            blobs, "sync_blob_part", "workspace, digest, start, bytes", each,
            order: "ORDER BY workspace, digest, start"
        ) { row in
            .part(WorkspaceID(row.text()), try Self.digest(row.text()), start: row.integer(), bytes: row.blob())
        }
        try read(blobs, "sync_blob_scope", "workspace, scope, digest", each) { row in
            .blobScope(WorkspaceID(row.text()), ScopeID(row.text()), try Self.digest(row.text()))
        }
        try read(blobs, "sync_blob_usage", "workspace, blobs, octets", each) { row in
            .blobUsage(
                WorkspaceID(row.text()), BlobUsage(blobs: Int(clamping: row.integer()), bytes: row.integer()))
        }
    }

    private func read(
        _ db: Database, _ table: String, _ columns: String, _ each: (StoredRow) throws -> Void, order: String = "",
        _ row: (inout ColumnReader) throws -> StoredRow
    ) throws {
        try Prepared("SELECT \(columns) FROM \(table) \(order)", db).forEach({ _ in }) { reader in
            let found: StoredRow
            do { found = try row(&reader) } catch let error as StoreError {
                found = .finding(Finding(.row, "a row of \(table) cannot be read: \(error.reason)"))
            }
            try each(found)
            return true
        }
    }

    private static func digest(_ text: String) throws(StoreError) -> BlobDigest {
        guard let digest = BlobDigest(checking: text) else { throw StoreError(.invariant, "a digest is malformed") }
        return digest
    }

    /// Checks that searches by scope find all records, and nothing else.
    private func filing(_ each: (StoredRow) throws -> Void) throws {
        for (sql, text) in Self.filed {
            try Prepared(sql, records).forEach({ _ in }) { row in
                let (workspace, seq) = (row.optionalText(), row.integer())
                try each(.finding(Finding(.scope, workspace.map { WorkspaceID($0) }, "the record at \(seq) \(text)")))
                return true
            }
        }
    }

    /// While only few faults are found, this is one search for each record.
    private static let filed = [
        (
            """
            SELECT r.workspace, r.seq
            FROM sync_record r
            LEFT JOIN sync_scope s ON s.place = r.place
            WHERE s.workspace IS NOT r.workspace OR s.scope IS NOT r.scope
            """, "has the place of another scope"
        ),
        (
            """
            SELECT r.workspace, r.seq
            FROM sync_record r
            LEFT JOIN sync_feed f ON f.place = r.place AND f.seq = r.seq
            WHERE r.row <= (SELECT through FROM sync_filing) AND f.row IS NOT r.row
            """, "is missing in sync_feed: no device receives it"
        ),
        (
            """
            SELECT r.workspace, r.seq
            FROM sync_record r
            LEFT JOIN sync_page p ON p.place = r.place AND p.collection = r.collection AND p.born = r.born
            WHERE r.deleted = 0 AND r.row <= (SELECT through FROM sync_filing) AND p.row IS NOT r.row
            """, "is missing in sync_page: no device that fills its scope gets it"
        ),
        (
            """
            SELECT s.workspace, f.seq
            FROM sync_feed f
            LEFT JOIN sync_record r ON r.row = f.row
            LEFT JOIN sync_scope s ON s.place = f.place
            WHERE r.seq IS NOT f.seq OR r.place IS NOT f.place
            """, "is listed in sync_feed, but does not exist or has another number or scope"
        ),
        (
            """
            SELECT s.workspace, p.born
            FROM sync_page p
            LEFT JOIN sync_record r ON r.row = p.row
            LEFT JOIN sync_scope s ON s.place = p.place
            WHERE r.born IS NOT p.born OR r.place IS NOT p.place OR r.deleted IS NOT 0
            """, "is listed in sync_page, but does not exist, is deleted, or has another birth or scope"
        ),
    ]
}
