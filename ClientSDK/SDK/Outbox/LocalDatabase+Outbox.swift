import GRDB
package import TidemarkModel
import TidemarkWire

extension LocalDatabase {
    /// Checks a transaction, shows it and appends it to the outbox; it is durable when this returns.
    ///
    /// - Returns: the number under which the server will know it.
    /// - Throws: `StoreError` with `refused`, naming collection, field and reason; nothing is then written.
    @discardableResult
    package func write(_ transaction: Transaction) throws -> Int64 {
        try change { db in
            var draft = try WriteDraft(self, db, time: transaction.clientTime)
            for mutation in transaction.mutations { try draft.stage(mutation) }
            return try draft.enqueue(transaction.id, ifSeq: transaction.ifSeq)
        }
    }

    /// Returns the next entries to push, numbered without gaps, and durably marks them as sending.
    ///
    /// Begin with `after: welcome.settledThrough`, continue with the last number returned, and begin again after a
    /// reconnection or a `gap`. An entry without mutations holds the number of a transaction that was withdrawn, or
    /// parked before it was sent; send it all the same.
    ///
    /// - Parameters:
    ///   - maxBytes: the limit for transaction bodies; the first entry is returned whatever its size.
    ///   - now: the device's time, stored as that of the attempt.
    package func nextPush(
        after: Int64, maxTransactions: Int, maxBytes: Int, now: Milliseconds? = nil
    ) throws -> [NumberedEntry] {
        // Most looks find nothing, and write nothing.
        guard try writer.read({ db in try OutboxTable(db: db).hasEntries(after: after) }) else { return [] }
        return try change { db in
            var push: [NumberedEntry] = []
            var bytes = 0
            for entry in try OutboxTable(db: db).entries(after: after, limit: Int64(maxTransactions)) {
                bytes += entry.body.utf8.count
                guard push.isEmpty || bytes <= maxBytes else { break }
                let transaction =
                    switch entry.state {
                    case .queued, .sending, .reoffered, .held: try memo.reading(entry)
                    case .void, .withdrawn, .waiting, .settled, .refused:
                        Transaction(id: entry.id, mutations: [], clientTime: entry.created)
                    }
                push.append(
                    NumberedEntry(
                        number: entry.number, entry: Push.Entry(names.stored(transaction)), bytes: entry.body.utf8.count
                    ))
            }
            guard let last = push.last?.number else { return [] }
            try db.run(
                """
                UPDATE tidemark_outbox
                SET attempts = attempts + 1, attempted = coalesce(?, attempted),
                    state = CASE state WHEN 'queued' THEN 'sending' ELSE state END
                WHERE n > ? AND n <= ?
                """, [now, after, last])
            return push
        }
    }

    /// Returns the number of transactions that are written and not settled.
    package func pendingCount() throws -> Int {
        try writer.read { db in try OutboxTable(db: db).pendingCount() }
    }

    /// Returns the step of a transaction written here; `nil` for an unknown id, or one committed long ago.
    package func step(of id: TransactionID) throws -> WriteStep? {
        try writer.read { db in try ReceiptTable(db: db).step(id) }
    }
}
