public import Foundation
public import TidemarkModel

/// The part of a rejected write that concerns one record, as models: the written version, the server's version, and the
/// actions on it.
///
///     for edit in try await store.repository(Order.self).rejected() {
///         print(edit.rejection.message, edit.written?.price ?? 0, edit.current?.price ?? 0)
///         if edit.differs(\.price) { try await edit.edit { $0.price = 0 } } else { try await edit.discard() }
///     }
///
/// A transaction is rejected whole, including its writes to other records. `retry`, `edit` and `discard` therefore
/// apply to the whole `transaction`: all of its edits then end.
public struct RejectedEdit<Model: SyncModel>: Sendable, Identifiable {
    /// Identifies an edit as long as its transaction is in `Outbox.rejected()`.
    public struct ID: Hashable, Sendable {
        /// The transaction's id.
        public let transaction: UUID
        /// The record's id.
        public let record: UUID
    }

    /// The intended change of the record.
    public enum Kind: Hashable, Sendable {
        case created
        case changed
        case deleted
        /// Restored after a deletion.
        case undeleted
    }

    /// The write that was rejected, with all of its records.
    public let transaction: RejectedTransaction
    /// The intended change of the record.
    public let kind: Kind
    /// The record as it would be now if the write had been accepted, including later changes of others. `nil` for a
    /// deletion, for a change of a record that is no longer here, and if the model cannot represent it.
    public let written: Model?
    /// The server's version of the record, as far as this device knows it; `nil` if there is none.
    public let current: Model?
    /// The fields in which `written` and `current` differ, by their names in the schema, sorted.
    public let differing: [String]
    let stored: StoredRejectedEdit

    public var id: ID { ID(transaction: transaction.id, record: UUID(stored.key.id)) }
    /// The reason why the write was rejected.
    public var rejection: Rejection { transaction.rejection }

    /// Returns whether `written` and `current` differ in a property; `false` for one that is not a stored property of
    /// the model.
    public func differs(_ property: PartialKeyPath<Model>) -> Bool {
        switch PropertyNames.result(of: property) {
        case .success(let name): differing.contains(name)
        case .failure: false
        }
    }

    /// Writes the whole transaction again unchanged; see `RejectedTransaction.retry()`.
    @discardableResult
    public func retry() async throws -> WriteReceipt { try await transaction.retry() }

    /// Gives the whole transaction up.
    public func discard() async throws { try await transaction.discard() }

    /// Writes the whole transaction again with another version of this record, as when a text was too long. Fields that
    /// `change` leaves as they are, and the other records, are written as they were.
    ///
    /// - Throws: `StoreError` with `notFound` when there is nothing to change (`written` is `nil`) or the transaction
    ///   was retried or discarded, or with `rejected` when the changed version does not apply either; also the errors
    ///   of `change`. The transaction then stays rejected.
    @discardableResult
    public func edit(_ change: @Sendable (inout Model) throws -> Void) async throws -> WriteReceipt {
        guard let written else {
            throw StoreError(.notFound, "\(stored.key): the refused write has no values to change")
        }
        var edited = written
        try change(&edited)
        let mutations = try stored.mutations(from: written, to: edited, current: current, coding)
        return try await transaction.edit { all in
            let index = all.firstIndex { $0.key == stored.key } ?? all.endIndex
            all.removeAll { $0.key == stored.key }
            all.insert(contentsOf: mutations, at: min(index, all.endIndex))
        }
    }

    private var coding: ModelCoding<Model> { ModelCoding(collection: stored.collection) }
}
