/// One entry of the conflict ledger: a value that was overwritten by a user who had not seen it.
package struct LedgerEntry: Hashable, Sendable {
    package var key: RecordKey
    package var scope: ScopeID
    /// The number of the write that replaced the value.
    package var seq: SequenceNumber
    package var value: OverwrittenValue
    /// The user who wrote the old value; only known if that was the record's first state, which is its author's.
    package var oldAuthor: UserID?
    /// The user who wrote the new value.
    package var author: UserID
    /// The device that wrote the new value.
    package var client: ClientID
    /// The name and version of the app that wrote the new value, as the app reported them.
    package var app: String?
    /// Server time of the write.
    package var time: Milliseconds

    package init(
        key: RecordKey, scope: ScopeID, seq: SequenceNumber, value: OverwrittenValue, oldAuthor: UserID?,
        author: UserID, client: ClientID, app: String?, time: Milliseconds
    ) {
        self.key = key
        self.scope = scope
        self.seq = seq
        self.value = value
        self.oldAuthor = oldAuthor
        self.author = author
        self.client = client
        self.app = app
        self.time = time
    }
}
