import GRDB
import TidemarkModel

/// The overwritten values that this device knows of. Works inside one SQLite transaction.
///
/// Rows without a client were found by this device. Either a value that it wrote was missing in the server's state, and
/// then there is no author either. Or a write of its own replaced a value that it had not seen. The server reports the
/// author if it knows one.
struct HistoryTable {
    let db: Database

    /// Notes a value that this device wrote and the server's state no longer has, or that a write of this device
    /// replaced.
    ///
    /// - Parameters:
    ///   - seq: the number of the new value, as far as it is known.
    ///   - author: the user who wrote the new value; `nil` if unknown.
    func note(
        _ value: OverwrittenValue, in record: LocalRecord, at seq: SequenceNumber, by author: UserID? = nil
    ) throws {
        try db.run(
            """
            INSERT OR IGNORE INTO tidemark_history (
                collection, local_id, seq, field, scope, rule, old, new, author, time
            ) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                record.key.collection, record.key.id.description, seq, value.field, record.scope.text,
                value.rule.rawValue, value.old?.json, value.new?.json, author?.text,
                record.updated ?? record.created,
            ])
    }

    /// Stores the server's entries, and deletes this device's findings that they explain.
    func save(_ entries: [LedgerEntry]) throws {
        for entry in entries {
            let key = entry.key
            try db.run(
                """
                DELETE FROM tidemark_history
                WHERE collection = ? AND local_id = ? AND field = ? AND old IS ? AND client IS NULL
                """, [key.collection, key.id.description, entry.value.field, entry.value.old?.json])
            try db.run(
                """
                INSERT OR REPLACE INTO tidemark_history (
                    collection, local_id, seq, field, scope, rule, old, new, old_author, author, client, app, time
                ) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
                [
                    key.collection, key.id.description, entry.seq, entry.value.field, entry.scope.text,
                    entry.value.rule.rawValue, entry.value.old?.json, entry.value.new?.json, entry.oldAuthor?.text,
                    entry.author.text, entry.client.description, entry.app, entry.time,
                ])
        }
    }

    /// Forgets entries that are too old or too many.
    func trim(now: Milliseconds, limits: LocalLimits) throws {
        try db.run("DELETE FROM tidemark_history WHERE time < ?", [now - min(now, limits.historyLifetime)])
        try db.run(
            """
            DELETE FROM tidemark_history
            WHERE time <= (SELECT time FROM tidemark_history ORDER BY time DESC LIMIT 1 OFFSET ?)
            """, [limits.historyEntriesMax])
    }

    /// Returns the record's entries, newest first.
    func entries(of key: RecordKey) throws -> [StoredHistory] {
        let sql = """
            SELECT seq, field, rule, old, new, old_author, author, client, app, time
            FROM tidemark_history
            WHERE collection = ? AND local_id = ?
            ORDER BY seq DESC, field
            """
        return try db.all(sql, key.arguments).map { row in
            let value = OverwrittenValue(
                field: try row.text(1), rule: MergeRule(rawValue: try row.text(2)) ?? .lww,
                old: try Self.value(row.optionalText(3)), new: try Self.value(row.optionalText(4)))
            return StoredHistory(
                key: key, seq: try row.integer(0), value: value,
                oldAuthor: try row.optionalText(5).map { UserID($0) },
                author: try row.optionalText(6).map { UserID($0) },
                client: try row.optionalText(7).flatMap { UniqueID($0) }, app: try row.optionalText(8),
                time: try row.integer(9))
        }
    }

    private static func value(_ json: String?) throws -> FieldValue? {
        guard let json else { return nil }
        do {
            return try JSONReader.read(Array(json.utf8)) { try $0.value() }
        } catch {
            throw StoreError(.corrupt, "a value of the history cannot be parsed: \(error)")
        }
    }
}

/// One entry as this device stores it.
struct StoredHistory: Hashable, Sendable {
    var key: RecordKey
    var seq: SequenceNumber
    var value: OverwrittenValue
    var oldAuthor: UserID?
    /// `nil` for an entry that this device found by itself.
    var author: UserID?
    var client: ClientID?
    var app: String?
    var time: Milliseconds
}
