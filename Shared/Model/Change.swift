/// One state of a record that the server decided, at its position in the order.
public struct Change: Hashable, Sendable {
    public var key: RecordKey
    public var scope: ScopeID
    /// The number of this state in the workspace's order.
    public var seq: SequenceNumber
    /// The number of the record's creation. It is the record's `serverID` and never changes.
    public var born: SequenceNumber
    /// True for a tombstone, which has no fields.
    public var isDeleted: Bool
    /// The user who created the record.
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
