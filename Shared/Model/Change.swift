/// One authoritative state of a record at its place in the order; what the server decided.
public struct Change: Hashable, Sendable {
    public var key: RecordKey
    public var scope: ScopeID
    /// Where this state stands in the workspace's order.
    public var seq: SequenceNumber
    /// Where the record's creation stands; the record's `serverID`, never changes.
    public var born: SequenceNumber
    /// A tombstone has no fields.
    public var isDeleted: Bool
    /// Who created the record.
    public var author: UserID
    /// Server time of the creation.
    public var created: Milliseconds
    /// Server time of this state.
    public var updated: Milliseconds
    public var fields: Fields

    public init(
        key: RecordKey, scope: ScopeID, seq: SequenceNumber, born: SequenceNumber, isDeleted: Bool, author: UserID,
        created: Milliseconds, updated: Milliseconds, fields: Fields
    ) {
        self.key = key
        self.scope = scope
        self.seq = seq
        self.born = born
        self.isDeleted = isDeleted
        self.author = author
        self.created = created
        self.updated = updated
        self.fields = fields
    }
}
