package import TidemarkModel

/// A record as the store keeps it: the envelope in columns, the fields as the exact bytes that go on the wire.
package struct StoredRecord: Hashable, Sendable {
    package var key: RecordKey
    package var scope: ScopeID
    package var seq: SequenceNumber
    package var born: SequenceNumber
    package var isDeleted: Bool
    package var author: UserID
    package var created: Milliseconds
    package var updated: Milliseconds
    /// Canonical JSON of the fields; empty for a tombstone.
    package var body: [UInt8]

    package init(
        key: RecordKey, scope: ScopeID, seq: SequenceNumber, born: SequenceNumber, isDeleted: Bool, author: UserID,
        created: Milliseconds, updated: Milliseconds, body: [UInt8]
    ) {
        self.key = key
        self.scope = scope
        self.seq = seq
        self.born = born
        self.isDeleted = isDeleted
        self.author = author
        self.created = created
        self.updated = updated
        self.body = body
    }
}
