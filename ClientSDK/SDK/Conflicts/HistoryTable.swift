import GRDB
import TidemarkModel

/// Overwritten values that this device knows of, inside one SQLite transaction.
///
/// Rows without a client are its own finding: a value that it wrote was gone when the server's state came, and then there
/// is no author either; or a write of its own took the place of a value that it had not seen. The server says who it was,
/// where it knows.
struct HistoryTable {
    let db: Database

    /// Notes a value that this device wrote and that the server's state of the record no longer has, or that a write of
    /// this device replaced.
    ///
    /// - Parameters:
    ///   - seq: where the new value stands, as far as that is known.
    ///   - author: who wrote the new value; `nil` when that is not known.
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

    /// Keeps what the server told; a finding of this device that it explains goes.
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

    /// Forgets what is too old, or too much.
    func trim(now: Milliseconds, limits: LocalLimits) throws {
        try db.run("DELETE FROM tidemark_history WHERE time < ?", [now - min(now, limits.historyLifetime)])
        try db.run(
            """
            DELETE FROM tidemark_history
            WHERE time <= (SELECT time FROM tidemark_history ORDER BY time DESC LIMIT 1 OFFSET ?)
            """, [limits.historyEntriesMax])
    }

    /// The record's entries, newest first.
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
            throw StoreError(.corrupt, "a value of the history does not read: \(error)")
        }
    }
}

/// One entry as this device keeps it.
struct StoredHistory: Hashable, Sendable {
    var key: RecordKey
    var seq: SequenceNumber
    var value: OverwrittenValue
    var oldAuthor: UserID?
    /// `nil` for what this device found by itself.
    var author: UserID?
    var client: ClientID?
    var app: String?
    var time: Milliseconds
}
