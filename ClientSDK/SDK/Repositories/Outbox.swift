public import Foundation
import GRDB
public import TidemarkModel

/// The transactions that wait to be sent, those that stalled, and those that the server rejected.
public struct Outbox: Sendable {
    let store: SyncStore

    /// The number of transactions that are written and not settled, now and after each change.
    public var pendingCount: LiveValues<Int> {
        LiveValues(
            store.database, of: ObservationOrigin("pending"), fetch: { try OutboxTable(db: $0).pendingCount() },
            map: { $0 })
    }

    /// Returns the transactions that got no answer too often, and those behind them in the same scopes, oldest first.
    ///
    /// - Throws: `StoreError` when the file cannot be read.
    public func stalled() async throws -> [StalledTransaction] {
        try await store.database.read { [store] db in
            let answered = try Withholding(db: db).answered()
            let sql = """
                SELECT body, created, last_error FROM tidemark_outbox
                WHERE \(OutboxTable.isPending) AND state IN ('withdrawn', 'waiting') ORDER BY written
                """
            return try db.all(sql).map { row in
                let transaction = try OutboxEntry.transaction(try row.text(0))
                return StalledTransaction(
                    store: store, transaction: transaction, created: try row.integer(1),
                    reason: try row.optionalText(2), needsRetry: answered.contains(transaction.id))
            }
        }
    }

    /// Sends all stalled transactions again, in their order; `StalledTransaction.retry()` sends one. A transaction that
    /// may have arrived is sent only after the server has said that it did not. A new connection does the same
    /// automatically for transactions that met an outage, but not for those with `needsRetry`.
    ///
    /// - Throws: `StoreError` when the file cannot be written.
    public func retryStalled() async throws {
        try await store.enqueue { [database = store.database] db in try database.releaseWithheld(isAsked: true, db) }
    }

    /// Returns the transactions that the server rejected, oldest first.
    ///
    /// - Throws: `StoreError` when the file cannot be read.
    public func rejected() async throws -> [RejectedTransaction] {
        let stored = try await store.database.read { db in try Parking(db: db).parked() }
        return stored.map { RejectedTransaction(store: store, stored: $0) }
    }
}

/// A write that the server rejected for good and that was undone on this device. It stays until it is retried or
/// discarded.
public struct RejectedTransaction: Sendable, Identifiable, Equatable {
    private let store: SyncStore
    private let stored: StoredParked

    init(store: SyncStore, stored: StoredParked) {
        self.store = store
        self.stored = stored
    }

    var database: LocalDatabase { store.database }

    public var id: UUID { UUID(stored.transaction.id) }
    /// The mutations of the write.
    public var mutations: [Mutation] { stored.transaction.mutations }
    /// The time when the app wrote it, by the device's clock.
    var written: Milliseconds { stored.transaction.clientTime }
    /// The server's reason.
    public var rejection: Rejection { stored.rejection }
    /// The time when this device learned of the rejection.
    public var rejectedAt: Date { Date(timeIntervalSince1970: Double(stored.parked) / 1_000) }

    /// Writes the payload again. The server treats it as written with the knowledge of the first attempt: a value that
    /// it replaces is kept in the history of the record, and is reported as `ConflictNote` with `overwrote`.
    ///
    /// If the payload consists only of `manual` fields that others have changed since, it is not sent. It stays
    /// rejected with `conflict`, as the receipt says, and `SyncStore.conflicts()` has both values to choose from.
    /// - Throws: `StoreError` when the payload no longer applies to the present records; it then stays rejected.
    @discardableResult
    public func retry() async throws -> WriteReceipt {
        let database = store.database
        let (id, newID) = (stored.transaction.id, store.environment.newID())
        let written = try await store.enqueue { db in try database.retryParked(id, newID: newID, db) }
        return WriteReceipt(written, database)
    }

    /// Writes the payload again after the app has changed it, for example to a shorter text or another target. For
    /// fields that the first version also wrote, the knowledge of the first attempt stays.
    ///
    ///     try await write.edit { mutations in mutations.removeLast() }
    ///
    /// - Throws: `StoreError` when the changed payload does not apply, or any error of `change`; the transaction then
    ///   stays rejected.
    @discardableResult
    public func edit(_ change: @Sendable (inout [Mutation]) throws -> Void) async throws -> WriteReceipt {
        var mutations = stored.transaction.mutations
        try change(&mutations)
        let database = store.database
        let transaction = Transaction(
            id: store.environment.newID(), mutations: mutations.keepingMarks(of: stored.transaction.mutations),
            clientTime: store.environment.now())
        try await store.enqueue { [id = stored.transaction.id] db in
            try database.discardParked(id, db)
            var draft = try WriteDraft(database, db, time: transaction.clientTime)
            for mutation in transaction.mutations { try draft.stage(mutation) }
            _ = try draft.enqueue(transaction.id)
        }
        return WriteReceipt(transaction.id, database)
    }

    /// Returns the payload and the rejection as one JSON object for a support case: `id`, `code`, `message`, `parked`
    /// in milliseconds since 1970, and `transaction` as it was sent. It contains what the user wrote.
    public func export() -> String {
        let report: Fields = [
            "id": .string(stored.transaction.id.description), "code": .string(rejection.code.rawValue),
            "message": .string(rejection.message), "parked": .integer(stored.parked),
        ]
        let head = FieldValue.object(report).json.dropLast()
        return "\(head),\"transaction\":\(OutboxEntry.text(stored.transaction))}"
    }

    public static func == (left: RejectedTransaction, right: RejectedTransaction) -> Bool {
        left.stored == right.stored
    }

    /// Discards the write.
    ///
    /// - Throws: `StoreError` with `notFound` when the write was retried or discarded before.
    public func discard() async throws {
        let database = store.database
        try await database.change { [id = stored.transaction.id] db in try database.discardParked(id, db) }
    }
}
