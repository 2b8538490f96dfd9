public import Foundation
import GRDB
public import TidemarkModel

/// What waits to be sent, and what the server refused.
public struct Outbox: Sendable {
    let store: SyncStore

    /// Transactions that are written and not settled, now and after each change.
    public var pendingCount: LiveValues<Int> {
        LiveValues(store.database.writer, fetch: { try OutboxTable(db: $0).pendingCount() }, map: { $0 })
    }

    /// Transactions that were refused, oldest first.
    public func parked() async throws -> [ParkedTransaction] {
        let stored = try await store.database.writer.read { db in try Parking(db: db).parked() }
        return stored.map { ParkedTransaction(store: store, stored: $0) }
    }
}

/// A write that was refused for good and taken back. It stays until it is retried or discarded.
public struct ParkedTransaction: Sendable, Identifiable {
    private let store: SyncStore
    private let stored: StoredParked

    init(store: SyncStore, stored: StoredParked) {
        self.store = store
        self.stored = stored
    }

    public var id: UUID { UUID(stored.transaction.id) }
    /// The payload.
    public var mutations: [Mutation] { stored.transaction.mutations }
    /// Why it was refused.
    public var rejection: Rejection { stored.rejection }
    /// When this device learned of it.
    public var parked: Date { Date(timeIntervalSince1970: Double(stored.parked) / 1_000) }

    /// Writes the payload again.
    ///
    /// - Throws: `StoreError` when it no longer applies to the records as they are; it then stays parked.
    @discardableResult
    public func retry() async throws -> WriteReceipt {
        let database = store.database
        let (id, newID) = (stored.transaction.id, store.environment.newID())
        let written = try await database.writer.write { db in try database.retryParked(id, newID: newID, db) }
        store.localWrites.send()
        return WriteReceipt(written, database)
    }

    /// Gives the write up.
    public func discard() async throws {
        let database = store.database
        try await database.writer.write { [id = stored.transaction.id] db in try database.discardParked(id, db) }
    }
}
