/// One line of the conflict ledger: a value that was overwritten by someone who had not seen it.
package struct LedgerEntry: Hashable, Sendable {
    package var key: RecordKey
    package var scope: ScopeID
    /// The number of the write that replaced the value.
    package var seq: SequenceNumber
    package var value: OverwrittenValue
    /// Who wrote the old value, where that is certain: for the record's first state, its author.
    package var oldAuthor: UserID?
    /// Who wrote the new one.
    package var author: UserID
    /// The device that wrote the new one.
    package var client: ClientID
    /// Name and version of the app that wrote the new one, as it said itself.
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
