package import TidemarkModel

/// One row of a database as an audit reads it, from a file, a server or an archive.
///
/// Sources return tables in the order of these cases; the rows of a table come in any order.
package enum StoredRow: Sendable {
    case workspace(WorkspaceID, horizon: SequenceNumber)
    case batch(WorkspaceID, low: SequenceNumber, head: Head)
    case record(WorkspaceID, StoredRecord)
    case client(WorkspaceID, ClientRow, kept: [UInt8])
    case member(WorkspaceID, UserID, ScopeID, role: String, since: SequenceNumber)
    case ledger(WorkspaceID, RecordKey, StoredLedgerValue)
    case blob(WorkspaceID, BlobDigest, bytes: Int64)
    case part(WorkspaceID, BlobDigest, start: Int64, bytes: [UInt8])
    case blobScope(WorkspaceID, ScopeID, BlobDigest)
    case blobUsage(WorkspaceID, BlobUsage)
    /// An error that the source itself found and that no row can express.
    case finding(Finding)
}

/// The columns of a ledger row that can be checked.
package struct StoredLedgerValue: Sendable {
    package var seq: SequenceNumber
    package var rule: String
    package var old: [UInt8]?
    package var new: [UInt8]?

    package init(seq: SequenceNumber, rule: String, old: [UInt8]?, new: [UInt8]?) {
        self.seq = seq
        self.rule = rule
        self.old = old
        self.new = new
    }
}

/// A database's state as a whole, as a source knows it.
package struct StoredState: Hashable, Sendable {
    /// The generation of its tables.
    package var generation: Int
    /// The oldest generation whose nodes the database serves.
    package var oldest: Int
    /// The number of the revision of the apps' schema in force; 0 for none.
    package var revision: Int64
    /// The version of SQLite or PostgreSQL.
    package var version: String

    package init(generation: Int, oldest: Int, revision: Int64, version: String) {
        self.generation = generation
        self.oldest = oldest
        self.revision = revision
        self.version = version
    }
}
