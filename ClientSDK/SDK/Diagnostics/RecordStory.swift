/// The reasons why the app sees a record as it does: the server's last state, the pending writes of this device, and
/// refused writes.
public struct RecordStory: Codable, Hashable, Sendable {
    /// The collection's name.
    public var collection: String
    /// The record's id.
    public var id: String
    /// The state that the app sees; `nil` when it sees no such record.
    public var shown: Version?
    /// The server's last state, when pending writes on top of it make the app see another one.
    public var server: Version?
    /// The number of a deletion that is remembered while the scope's pages arrive.
    public var deletedAt: Int64?
    /// The writes on top of the server's state, in the order in which they apply.
    public var pending: [Write]
    /// The writes that were refused permanently.
    public var refused: [Write]

    /// One state of the record.
    public struct Version: Codable, Hashable, Sendable {
        /// The scope of the record.
        public var scope: String
        /// The number of its last change in the workspace's order; 0 for a state without a number.
        public var seq: Int64
        /// The user who created it.
        public var author: String
        /// `synced`, `pending` or `failed` for the state that is shown; `live`, `absent` or `deleted` for the server's
        /// state.
        public var state: String
        /// The values as JSON, by name; a field without a value is missing.
        public var fields: [String: String]
    }

    /// The part of one transaction that concerns the record.
    public struct Write: Codable, Hashable, Sendable {
        /// The transaction's id, the same on the server.
        public var transaction: String
        /// The number under which it is sent; `nil` for a refused transaction.
        public var number: Int64?
        /// The outbox state, or the code and message of the refusal.
        public var status: String
        /// The changes, such as `set text = "hi"`.
        public var changes: [String]
    }

    /// The names of fields that are shown with another value than the server has.
    public var differing: [String] {
        guard let shown, let server else { return [] }
        return Set(shown.fields.keys).union(server.fields.keys).sorted()
            .filter { shown.fields[$0] != server.fields[$0] }
    }
}
