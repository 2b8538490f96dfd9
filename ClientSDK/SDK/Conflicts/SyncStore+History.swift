public import Foundation
import GRDB
import TidemarkModel

extension SyncStore {
    /// Values of a record that were overwritten unseen, newest first: while connected, all that the server has; without a
    /// connection, what this device knows.
    ///
    ///     for entry in try await store.history(of: order.id, in: "orders") {
    ///         print(entry.field, entry.old, entry.new, entry.author, entry.time)
    ///     }
    ///
    /// The server, which keeps them for `--ledger-days`, is asked and waited for, 10 s at most; without a connection it is asked
    /// with the next one, and an answer that comes later comes through `observeHistory(of:in:)`. A connection that is lost
    /// meanwhile ends the wait.
    /// - Throws: `StoreError` when the schema has no such collection, or the file holds what no SDK wrote.
    public func history(of id: UUID, in collection: String) async throws -> [HistoryEntry] {
        _ = try database.table(collection)
        let key = RecordKey(collection: collection, id: UniqueID(id))
        await syncing.history(of: key, within: environment.answerWait, by: environment.clock)
        try Task.checkCancellation()
        return try await database.read { db in try HistoryTable(db: db).entries(of: key) }
            .map { HistoryEntry($0, account: account) }
    }

    /// The same now and after each change. The server is asked when this is called, or with the next connection.
    public func observeHistory(of id: UUID, in collection: String) -> LiveValues<[HistoryEntry]> {
        let key = RecordKey(collection: collection, id: UniqueID(id))
        syncing.askHistory(of: key)
        return LiveValues(
            database, of: ObservationOrigin("history"), fetch: { try HistoryTable(db: $0).entries(of: key) },
            map: { [account] stored in stored.map { HistoryEntry($0, account: account) } })
    }

    /// Writes an overwritten value again, as any other change: what it replaces is seen, and makes no entry.
    ///
    /// - Throws: `StoreError` when the record is gone, or the field is not for apps to write.
    @discardableResult
    public func restore(_ entry: HistoryEntry) async throws -> WriteReceipt {
        let (id, time) = (environment.newID(), environment.now())
        try await enqueue { [database, mutation = entry.restoring] db in
            var draft = try WriteDraft(database, db, time: time)
            try draft.stage(mutation)
            _ = try draft.enqueue(id)
        }
        return WriteReceipt(id, database)
    }
}
