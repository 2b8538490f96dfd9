/// A table that every store keeps under the same name. See `Operations/Rows/ROWS.md`.
package struct StoredTable: Hashable, Sendable {
    /// A column that every store has.
    package struct Column: Hashable, Sendable {
        /// The kind of value, where the stores' own types differ.
        package enum Kind: Hashable, Sendable {
            /// Names, UUIDs and JSON.
            case text
            case integer
            /// 0 or 1.
            case boolean
            case bytes
        }

        package let name: String
        package let kind: Kind

        static func text(_ names: String...) -> [Column] { names.map { Column(name: $0, kind: .text) } }
        static func integer(_ names: String...) -> [Column] { names.map { Column(name: $0, kind: .integer) } }
        static func boolean(_ name: String) -> [Column] { [Column(name: name, kind: .boolean)] }
        static func bytes(_ name: String) -> [Column] { [Column(name: name, kind: .bytes)] }
    }

    package let name: String
    package let columns: [Column]
    /// True for a table that a store may keep in a file of its own.
    package let isOfBlobs: Bool
    /// The columns by which a database that keeps no order of its own sorts the rows; empty for any order.
    package private(set) var order: [String] = []

    private init(_ name: String, isOfBlobs: Bool = false, _ columns: [Column]...) {
        self.name = name
        self.isOfBlobs = isOfBlobs
        self.columns = columns.flatMap(\.self)
    }

    /// The position of a column in a row.
    package func index(of column: String) -> Int? { columns.firstIndex { $0.name == column } }

    /// Every table, workspaces first: what is derived from a row may need the row of its workspace.
    package static let all = order + people + operators + blobs

    private static let order = [
        StoredTable("sync_workspace", Column.text("workspace"), Column.integer("horizon", "keep", "compacted")),
        StoredTable(
            "sync_batch", Column.text("workspace"), Column.integer("seq", "low", "nonce", "time", "epoch"),
            Column.text("body")),
        StoredTable(
            "sync_lineage", Column.text("workspace"), Column.integer("epoch", "first", "base", "time"),
            Column.text("reason"), Column.integer("lost")),
        StoredTable(
            "sync_record", Column.text("workspace", "collection", "id", "scope"), Column.integer("seq", "born"),
            Column.boolean("deleted"), Column.text("author"), Column.integer("created", "updated"),
            Column.text("body", "buried")),
        StoredTable(
            "sync_ledger", Column.text("workspace", "collection", "id", "scope"), Column.integer("seq"),
            Column.text("field", "rule", "old", "new", "old_author", "author", "client", "app"),
            Column.integer("time", "octets")),
    ]

    private static let people = [
        StoredTable(
            "sync_client", Column.text("workspace", "client", "user"),
            Column.integer("settled", "acked", "connection", "registered"), Column.text("kept"),
            Column.integer("seen"), Column.text("app"), Column.integer("written", "position")),
        StoredTable(
            "sync_member", Column.text("workspace", "user", "scope", "role"), Column.integer("since")),
        StoredTable(
            "sync_member_past", Column.text("workspace", "user", "scope", "role"), Column.integer("since", "ended")),
        StoredTable(
            "sync_account", Column.text("workspace", "login", "user", "hash"),
            Column.integer("created", "changed", "disabled"), Column.text("reset"),
            Column.integer("reset_until", "version")),
        StoredTable(
            "sync_sign_in", Column.text("workspace", "user", "client"),
            Column.integer("nonce", "counter", "began", "used")),
        StoredTable(
            "sync_revocation", Column.text("workspace", "kind", "name", "owner"),
            Column.integer("not_before", "number")),
        StoredTable("sync_revocation_head", Column.boolean("one"), Column.integer("number")),
    ]

    private static let operators = [
        StoredTable(
            "sync_schema", Column.integer("number", "applied"), Column.text("document", "min_app", "note")),
        StoredTable(
            "sync_erasure", Column.text("workspace", "kind", "name"), Column.integer("through", "begun", "ended"),
            Column.text("alias")),
        StoredTable(
            "sync_act", Column.integer("number", "time"),
            Column.text("who", "kind", "workspace", "user", "argument", "reason", "outcome")),
    ]

    private static let blobs = [
        StoredTable(
            "sync_blob", isOfBlobs: true, Column.text("workspace", "digest"), Column.integer("octets", "created")),
        StoredTable(
            "sync_blob_part", isOfBlobs: true, Column.text("workspace", "digest"), Column.integer("start"),
            Column.bytes("bytes")),
        StoredTable(
            "sync_blob_scope", isOfBlobs: true, Column.text("workspace", "scope", "digest", "author"),
            Column.integer("created")),
        StoredTable(
            "sync_blob_usage", isOfBlobs: true, Column.text("workspace"), Column.integer("blobs", "octets")),
    ]
    /// The tables that an audit reads, in its order, with the columns that it checks.
    package static let audited = [
        reading("sync_workspace", "workspace", "horizon"),
        // In the order in which time and epoch never decrease.
        reading(
            "sync_batch", "workspace", "low", "seq", "nonce", "time", "epoch", order: ["workspace", "seq"]),
        reading(
            "sync_record", "workspace", "collection", "id", "scope", "seq", "born", "deleted", "author", "created",
            "updated", "body"),
        reading("sync_client", "workspace", "client", "user", "settled", "acked", "connection", "kept"),
        reading("sync_member", "workspace", "user", "scope", "role", "since"),
        reading("sync_ledger", "workspace", "collection", "id", "seq", "rule", "old", "new"),
        reading("sync_blob", "workspace", "digest", "octets"),
        // The parts of a blob follow each other.
        reading(
            "sync_blob_part", "workspace", "digest", "start", "bytes", order: ["workspace", "digest", "start"]),
        reading("sync_blob_scope", "workspace", "scope", "digest"),
        reading("sync_blob_usage", "workspace", "blobs", "octets"),
    ].compactMap(\.self)

    /// Returns a table with some of its columns.
    private static func reading(_ name: String, _ columns: String..., order: [String] = []) -> StoredTable? {
        guard let whole = all.first(where: { $0.name == name }) else { return nil }
        let found = columns.compactMap { column in whole.columns.first { $0.name == column } }
        var table = StoredTable(name, isOfBlobs: whole.isOfBlobs, found)
        table.order = order
        return table
    }
}
