/// How one record came to be seen as it is: what the server last said, what this device wrote on top of it, and what was
/// refused.
public struct RecordStory: Codable, Hashable, Sendable {
    /// The collection's name.
    public var collection: String
    /// The record's id.
    public var id: String
    /// `nil` when the app sees no such record.
    public var shown: Version?
    /// The server's last state, where it differs from what is shown because writes are pending on top of it.
    public var server: Version?
    /// The number of a deletion that is remembered while the scope's pages come.
    public var deletedAt: Int64?
    /// Writes on top of the server's state, in the order in which they apply.
    public var pending: [Write]
    /// Writes that were refused for good.
    public var refused: [Write]

    /// One state of the record.
    public struct Version: Codable, Hashable, Sendable {
        /// The scope that it belongs to.
        public var scope: String
        /// The place of its last change in the workspace's order; 0 for what the server has not numbered.
        public var seq: Int64
        /// Who created it.
        public var author: String
        /// `synced`, `pending` or `failed` for what is shown; `live`, `absent` or `deleted` for the server's state.
        public var state: String
        /// Values as JSON, by name; a field without a value is missing.
        public var fields: [String: String]
    }

    /// One transaction's part in the record.
    public struct Write: Codable, Hashable, Sendable {
        /// The transaction's id, the same on the server.
        public var transaction: String
        /// The number that it is sent under; `nil` for a refused one.
        public var number: Int64?
        /// The outbox state, or the refusal's code and message.
        public var status: String
        /// What it does: `set text = "hi"`.
        public var changes: [String]
    }

    /// Names of fields that are shown with another value than the server has.
    public var differing: [String] {
        guard let shown, let server else { return [] }
        return Set(shown.fields.keys).union(server.fields.keys).sorted()
            .filter { shown.fields[$0] != server.fields[$0] }
    }
}
