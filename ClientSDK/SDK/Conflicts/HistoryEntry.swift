public import Foundation
public import TidemarkModel

/// A value of one field that was overwritten by someone who had not seen it.
public struct HistoryEntry: Hashable, Sendable, Identifiable {
    private let stored: StoredHistory
    private let account: UserID

    init(_ stored: StoredHistory, account: UserID) {
        self.stored = stored
        self.account = account
    }

    /// Tells entries of one record apart: the write and the field.
    public struct ID: Hashable, Sendable {
        let seq: SequenceNumber
        let field: String
    }

    public var id: ID { ID(seq: stored.seq, field: field) }
    /// The record that it happened to.
    public var record: UUID { UUID(stored.key.id) }
    /// The record's collection.
    public var collection: String { stored.key.collection }
    /// The field's name in the schema.
    public var field: String { stored.value.field }
    /// What was overwritten; `nil` where the field had no value.
    public var old: FieldValue? { stored.value.old }
    /// What took its place; `nil` where it was removed.
    public var new: FieldValue? { stored.value.new }
    /// The rule that let it happen.
    public var rule: MergeRule { stored.value.rule }
    /// Who wrote the old value, where that is known.
    public var oldAuthor: UserID? { stored.author == nil ? account : stored.oldAuthor }
    /// Who wrote the new one; `nil` until the server was asked, unless it was written here.
    public var author: UserID? { stored.author }
    /// The device that wrote the new one, where that is known.
    public var device: UUID? { stored.client.map { UUID($0) } }
    /// Name and version of the app that wrote the new one, where that is known.
    public var app: String? { stored.app }
    /// Where the new one stands in the workspace's order; the number of a later state where only that is known.
    public var seq: SequenceNumber { stored.seq }
    /// Server time.
    public var time: Date { Date(timeIntervalSince1970: Double(stored.time) / 1_000) }

    /// The write that brings the old value back.
    var restoring: Mutation {
        if rule == .keys {
            // Of the keys in question, those that were not there go again.
            var keys = Fields()
            if case .object(let new)? = new { for entry in new.entries { keys[entry.name] = .null } }
            if case .object(let old)? = old { for entry in old.entries { keys[entry.name] = entry.value } }
            return Mutation(key: stored.key, action: .update([NamedPatch(field, .keys(keys))]))
        }
        return Mutation(key: stored.key, action: .update([NamedPatch(field, old.map { .set($0) } ?? .unset)]))
    }
}
