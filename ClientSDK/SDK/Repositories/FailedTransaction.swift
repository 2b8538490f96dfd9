public import Foundation
public import TidemarkModel

/// A write that reached the server and came to nothing too often in a row, or stands behind one in the same scope. It is shown,
/// its records say `failed`, and nobody has refused it.
///
///     for failed in try await store.outbox.failed() where failed.needsRetry {
///         print(failed.reason ?? "it waits behind another one", failed.mutations.count)
///         try await failed.retry()                       // or store.outbox.retryFailed() for all of them
///     }
public struct FailedTransaction: Sendable, Identifiable {
    private let store: SyncStore
    private let transaction: Transaction
    private let created: Milliseconds
    /// What happened last, for a person to read; `nil` for one that only stands behind another.
    public let reason: String?
    /// The server answered each attempt with a failure: the write stays until it is retried or discarded. False where the
    /// server was silent or could not serve anybody: a passing outage, after which the write is sent again by itself; and
    /// for one that stands behind another.
    public let needsRetry: Bool

    init(
        store: SyncStore, transaction: Transaction, created: Milliseconds, reason: String?, needsRetry: Bool
    ) {
        self.store = store
        self.transaction = transaction
        self.created = created
        self.reason = reason
        self.needsRetry = needsRetry
    }

    public var id: UUID { UUID(transaction.id) }
    /// The payload.
    public var mutations: [Mutation] { transaction.mutations }
    /// When it was written.
    public var written: Date { Date(timeIntervalSince1970: Double(created) / 1_000) }

    /// Sends the write again, with what is withheld in front of it and behind it in its scopes: the order in a scope stays. What
    /// may have arrived after all follows once the server has said that it did not. Other writes that `needsRetry` stay failed.
    ///
    /// - Throws: `StoreError` with `notFound` when it is sent again already, or has arrived.
    public func retry() async throws {
        try await store.enqueue { [database = store.database, id = transaction.id] db in
            try database.retryWithheld(id, db)
        }
    }

    /// Gives the write up: it is shown no more, and what stands behind it goes on. Should an earlier sending have arrived
    /// after all, it counts, and what it wrote comes back from the server.
    ///
    /// - Throws: `StoreError` with `notFound` when it is sent again already, or has arrived.
    public func discard() async throws {
        try await store.enqueue { [database = store.database, id = transaction.id] db in
            try database.discardWithheld(id, db)
        }
    }
}
