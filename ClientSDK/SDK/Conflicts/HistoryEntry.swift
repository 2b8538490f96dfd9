public import Foundation
public import TidemarkModel

/// A value of one field that was overwritten by a writer who had not seen it.
public struct HistoryEntry: Hashable, Sendable, Identifiable {
    private let stored: StoredHistory
    private let account: UserID

    init(_ stored: StoredHistory, account: UserID) {
        self.stored = stored
        self.account = account
    }

    /// Identifies an entry of one record: the write and the field.
    public struct ID: Hashable, Sendable {
        let seq: SequenceNumber
        let field: String
    }

    public var id: ID { ID(seq: stored.seq, field: field) }
    /// The record's id.
    public var record: UUID { UUID(stored.key.id) }
    /// The record's collection.
    public var collection: String { stored.key.collection }
    /// The field's name in the schema.
    public var field: String { stored.value.field }
    /// The overwritten value; `nil` if the field had none.
    public var old: FieldValue? { stored.value.old }
    /// The value that replaced it; `nil` if it was removed.
    public var new: FieldValue? { stored.value.new }
    /// The merge rule of the field.
    public var rule: MergeRule { stored.value.rule }
    /// The user who wrote the old value, if known.
    public var oldAuthor: UserID? { stored.author == nil ? account : stored.oldAuthor }
    /// The user who wrote the new value; `nil` until the server was asked, unless it was written here.
    public var author: UserID? { stored.author }
    /// The device that wrote the new value, if known.
    public var device: UUID? { stored.client.map { UUID($0) } }
    /// The name and version of the app that wrote the new value, if known.
    public var app: String? { stored.app }
    /// The number of the new value in the workspace's order; the number of a later state if only that is known.
    public var seq: SequenceNumber { stored.seq }
    /// The server time of the overwriting.
    public var time: Date { Date(timeIntervalSince1970: Double(stored.time) / 1_000) }

    /// The write that restores the old value.
    var restoring: Mutation {
        if rule == .keys {
            // Keys that the write added are removed again.
            var keys = Fields()
            if case .object(let new)? = new { for entry in new.entries { keys[entry.name] = .null } }
            if case .object(let old)? = old { for entry in old.entries { keys[entry.name] = entry.value } }
            return Mutation(key: stored.key, action: .update([NamedPatch(field, .keys(keys))]))
        }
        return Mutation(key: stored.key, action: .update([NamedPatch(field, old.map { .set($0) } ?? .unset)]))
    }
}
