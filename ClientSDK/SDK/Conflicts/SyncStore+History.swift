public import Foundation
import GRDB
import TidemarkModel

extension SyncStore {
    /// Returns the values of a record that were overwritten unseen, newest first: all that the server has while
    /// connected, else those known to this device.
    ///
    ///     for entry in try await store.history(of: order.id, in: "orders") {
    ///         print(entry.field, entry.old, entry.new, entry.author, entry.time)
    ///     }
    ///
    /// The server keeps them for `--ledger-days`. The call asks it and waits for the answer, 10 s at most; the loss of
    /// the connection ends the wait. Without a connection the server is asked with the next one. A later answer arrives
    /// through `observeHistory(of:in:)`.
    /// - Throws: `StoreError` when the schema has no such collection, or the file contains a value that no SDK wrote.
    public func history(of id: UUID, in collection: String) async throws -> [HistoryEntry] {
        _ = try database.table(collection)
        let key = RecordKey(collection: collection, id: UniqueID(id))
        await syncing.history(of: key, within: environment.answerWait, by: environment.clock)
        try Task.checkCancellation()
        return try await database.read { db in try HistoryTable(db: db).entries(of: key) }
            .map { HistoryEntry($0, account: account) }
    }

    /// The history now and after each change. The server is asked when this is called, or with the next connection.
    public func observeHistory(of id: UUID, in collection: String) -> LiveValues<[HistoryEntry]> {
        let key = RecordKey(collection: collection, id: UniqueID(id))
        syncing.ask(.history(key))
        return LiveValues(
            database, of: ObservationOrigin("history"), fetch: { try HistoryTable(db: $0).entries(of: key) },
            map: { [account] stored in stored.map { HistoryEntry($0, account: account) } })
    }

    /// Writes an overwritten value again, as any other change: the value that it replaces is seen, and makes no entry.
    ///
    /// - Throws: `StoreError` when the record is gone, or apps cannot write the field.
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
