public import Foundation
public import TidemarkModel

/// A write that got no answer too often in a row, or that is behind such a write in the same scope. Its records are
/// still shown, with the state `failed`; the server has not rejected it.
///
///     for write in try await store.outbox.stalled() where write.needsRetry {
///         print(write.reason ?? "it waits behind another one", write.mutations.count)
///         try await write.retry()                        // or store.outbox.retryStalled() for all of them
///     }
public struct StalledTransaction: Sendable, Identifiable {
    private let store: SyncStore
    private let transaction: Transaction
    private let created: Milliseconds
    /// The last error, as text for people; `nil` for a write that is only behind another one.
    public let reason: String?
    /// True when the server answered each attempt with a failure: the write stays until it is retried or discarded.
    /// False when the server did not answer or could serve nobody: after such an outage the write is sent again
    /// automatically. Also false for a write that is only behind another one.
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
    /// The mutations of the write.
    public var mutations: [Mutation] { transaction.mutations }
    /// The time of the write.
    public var writtenAt: Date { Date(timeIntervalSince1970: Double(created) / 1_000) }

    /// Sends the write again, together with the stalled writes before and after it in its scopes, so that the order in
    /// a scope stays. If the write may have arrived, it is sent only after the server has said that it did not. Other
    /// writes with `needsRetry` stay stalled.
    ///
    /// - Throws: `StoreError` with `notFound` when the write is already being sent again, or has arrived.
    public func retry() async throws {
        try await store.enqueue { [database = store.database, id = transaction.id] db in
            try database.retryWithheld(id, db)
        }
    }

    /// Discards the write: it is no longer shown, and the writes behind it continue. If an earlier attempt has arrived
    /// after all, it stays in effect, and its values come back from the server.
    ///
    /// - Throws: `StoreError` with `notFound` when the write is already being sent again, or has arrived.
    public func discard() async throws {
        try await store.enqueue { [database = store.database, id = transaction.id] db in
            try database.discardWithheld(id, db)
        }
    }
}
