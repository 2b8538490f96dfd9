import GRDB
import TidemarkModel

/// Keeps records that the server lost, before their rows are deleted: the device that wrote them may never return.
/// Works inside one SQLite transaction.
struct Rescue {
    let records: RecordTable
    /// The largest size of all kept bodies, in bytes; the newest stay.
    let bytesMax: Int64
    private var db: Database { records.db }

    /// Keeps each record with a number from `lost` on. If this device has writes on it, which are offered again, the
    /// record without them is kept.
    ///
    /// - Parameters:
    ///   - withdrawn: scopes whose end is not part of the loss: nothing of them is kept.
    ///   - now: the server's time.
    /// - Returns: the number of records kept.
    func keep(
        from lost: SequenceNumber, besides withdrawn: Set<ScopeID>, at now: Milliseconds
    ) throws -> Int {
        var count = 0
        for name in records.tables.keys.sorted() {
            guard let table = records.tables[name] else { continue }
            let sql = """
                SELECT \(table.columnsSQL) FROM \(table.quotedName)
                WHERE seq >= ? AND NOT EXISTS (
                    SELECT 1 FROM tidemark_base
                WHERE tidemark_base.collection = ? AND tidemark_base.local_id = \(table.quotedName).local_id
                )
                ORDER BY seq
                """
            var found = try db.all(sql, [lost, name]).map { try table.record($0).record }
            // A record that exists only by a write of this device, on top of what the server still has, comes back with
            // that write.
            let bases = """
                SELECT local_id FROM tidemark_base WHERE collection = ?1 AND seq >= ?2 AND existence = 'live'
                AND (server_id >= ?2 OR seq NOT IN (SELECT seq FROM tidemark_outbox WHERE seq >= ?2))
                ORDER BY seq
                """
            found += try db.all(bases, [name, lost]).compactMap { row in
                try records.base(RecordKey(collection: name, id: try row.id(0)))
            }
            for record in found where !withdrawn.contains(record.scope) {
                try keep(record, at: now)
                count += 1
            }
        }
        try bound()
        return count
    }

    private func keep(_ record: LocalRecord, at now: Milliseconds) throws {
        try db.run(
            """
            INSERT INTO tidemark_rescue (collection, local_id, scope, number, author, updated, body, rescued)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                record.key.collection, record.key.id.description, record.scope.text, record.seq, record.author.text,
                record.updated, FieldValue.object(record.fields).json, now,
            ])
    }

    /// Deletes the oldest when they are too large together.
    private func bound() throws {
        let sql = """
            DELETE FROM tidemark_rescue WHERE id <= (
                SELECT max(id) FROM (
                    SELECT id, sum(length(CAST(body AS BLOB))) OVER (ORDER BY id DESC) AS bytes FROM tidemark_rescue
                ) WHERE bytes > ?
            )
            """
        try db.run(sql, [bytesMax])
    }

    /// Forgets all records of a scope that was withdrawn.
    static func forget(_ scope: ScopeID, _ db: Database) throws {
        try db.run("DELETE FROM tidemark_rescue WHERE scope = ?", [scope.text])
    }
}
