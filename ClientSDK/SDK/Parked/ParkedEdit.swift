public import Foundation
public import TidemarkModel

/// What a refused write had for one record, as models: what was written, what the server has, and what to do about it.
///
///     for edit in try await store.repository(Order.self).parked() {
///         print(edit.rejection.message, edit.written?.price ?? 0, edit.current?.price ?? 0)
///         if edit.differs(\.price) { try await edit.edit { $0.price = 0 } } else { try await edit.discard() }
///     }
///
/// A transaction is refused whole, and with it what it had for other records. So `retry`, `edit` and `discard` go for the
/// whole `transaction`: all of its edits then end.
public struct ParkedEdit<Model: SyncModel>: Sendable, Identifiable {
    /// Names an edit as long as its transaction is parked.
    public struct ID: Hashable, Sendable {
        /// The transaction's id.
        public let transaction: UUID
        /// The record's id.
        public let record: UUID
    }

    /// What was to become of the record.
    public enum Kind: Hashable, Sendable {
        case created
        case changed
        case deleted
        /// Brought back after a deletion.
        case undeleted
    }

    /// The write that was refused, with all records that it was about.
    public let transaction: ParkedTransaction
    /// What was to become of the record.
    public let kind: Kind
    /// The record as it would be now had the write been accepted: what others changed meanwhile is in it. `nil` for a deletion,
    /// for a change of a record that is no longer here, and where the model cannot hold it.
    public let written: Model?
    /// The record as the server has it, as far as this device knows; `nil` while there is none.
    public let current: Model?
    /// The fields that `written` and `current` differ in, by their names in the schema, sorted.
    public let differing: [String]
    let stored: StoredParkedEdit

    public var id: ID { ID(transaction: transaction.id, record: UUID(stored.key.id)) }
    /// Why the write was refused.
    public var rejection: Rejection { transaction.rejection }

    /// Whether `written` and `current` differ in a property; `false` for one that is no stored property of the model.
    public func differs(_ property: PartialKeyPath<Model>) -> Bool {
        switch PropertyNames.result(of: property) {
        case .success(let name): differing.contains(name)
        case .failure: false
        }
    }

    /// Writes the whole transaction again as it was; see `ParkedTransaction.retry()`.
    @discardableResult
    public func retry() async throws -> WriteReceipt { try await transaction.retry() }

    /// Gives the whole transaction up.
    public func discard() async throws { try await transaction.discard() }

    /// Writes the whole transaction again with another version of this record, as when a text was too long: what `change`
    /// leaves as it is in `written` is written as it was, as are the other records.
    ///
    /// - Throws: `StoreError` with `notFound` when there is nothing to change (`written` is `nil`) or the transaction is no
    ///   longer parked, with `refused` when the changed version does not apply either, or whatever `change` throws; it then
    ///   stays parked.
    @discardableResult
    public func edit(_ change: @Sendable (inout Model) throws -> Void) async throws -> WriteReceipt {
        guard let written else {
            throw StoreError(.notFound, "\(stored.key): the refused write leaves nothing that could be changed")
        }
        var edited = written
        try change(&edited)
        let mutations = try stored.mutations(from: written, to: edited, current: current, coding)
        return try await transaction.edit { all in
            let place = all.firstIndex { $0.key == stored.key } ?? all.endIndex
            all.removeAll { $0.key == stored.key }
            all.insert(contentsOf: mutations, at: min(place, all.endIndex))
        }
    }

    private var coding: ModelCoding<Model> { ModelCoding(collection: stored.collection) }
}
