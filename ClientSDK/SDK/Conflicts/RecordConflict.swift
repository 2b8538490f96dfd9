public import Foundation
import GRDB
public import TidemarkModel

/// A record whose `manual` fields were changed here and elsewhere without knowledge of each other. The record shows the
/// server's values. This device's own values are kept, also over a restart, until the app chooses.
///
///     for conflict in try await store.conflicts() {
///         for field in conflict.fields { print(field.name, field.mine, field.theirs) }
///         try await conflict.resolve(with: .mine)
///     }
public struct RecordConflict: Sendable, Identifiable, Equatable {
    /// One field with both values; `nil` if it has none.
    public struct Field: Hashable, Sendable {
        /// The field's name in the schema.
        public let name: String
        /// The value that was written on this device and refused.
        public let mine: FieldValue?
        /// The value that the server has now.
        public let theirs: FieldValue?

        public init(name: String, mine: FieldValue? = nil, theirs: FieldValue? = nil) {
            self.name = name
            self.mine = mine
            self.theirs = theirs
        }
    }

    /// The value to keep.
    public enum Choice: Hashable, Sendable {
        case mine
        case theirs
        /// Another value, such as the user's merge of both; `nil` removes the value.
        case value(FieldValue?)
    }

    private let store: SyncStore
    private let stored: StoredConflict

    init(store: SyncStore, stored: StoredConflict) {
        self.store = store
        self.stored = stored
    }

    public var id: RecordKey { stored.key }
    /// The record's collection.
    public var collection: String { stored.key.collection }
    /// The record's id.
    public var record: UUID { UUID(stored.key.id) }
    /// The fields to choose, sorted by name.
    public var fields: [Field] {
        stored.fields.map { Field(name: $0.name, mine: $0.mine, theirs: $0.theirs) }
    }

    /// Settles the conflict, or one field of it. The choice is written like any other change, and is a new conflict if
    /// the value was changed again at the server meanwhile.
    ///
    /// - Parameters:
    ///   - choice: the value to keep.
    ///   - field: `nil` for all of them.
    /// - Returns: the receipt; it has no steps when nothing had to be written.
    /// - Throws: `StoreError` when the record is gone or the value does not fit. `rejected(.conflict)` means that a
    ///   value shown here has changed: take the conflict from `conflicts()` again. The conflict stays in each case.
    @discardableResult
    public func resolve(with choice: Choice, of field: String? = nil) async throws -> WriteReceipt {
        var choices: [String: FieldPatch?] = [:]
        for conflict in stored.fields where field == nil || field == conflict.name {
            switch choice {
            case .mine: choices[conflict.name] = conflict.mine.map { .set($0) } ?? .unset
            case .theirs: choices.updateValue(nil, forKey: conflict.name)
            case .value(let value): choices[conflict.name] = value.map { .set($0) } ?? .unset
            }
        }
        let (id, time) = (store.environment.newID(), store.environment.now())
        _ = try await store.enqueue(isWritten: { $0 }) { [choices, stored, database = store.database] db in
            try database.resolve(stored, choices, id: id, at: time, db)
        }
        return WriteReceipt(id, store.database)
    }

    public static func == (left: RecordConflict, right: RecordConflict) -> Bool { left.stored == right.stored }
}

extension SyncStore {
    /// Returns the conflicts that wait for the app's choice, by record.
    public func conflicts() async throws -> [RecordConflict] {
        try await database.read { [database] db in try database.conflicts(db) }
            .map { RecordConflict(store: self, stored: $0) }
    }

    /// The open conflicts, now and after each change.
    public var openConflicts: LiveValues<[RecordConflict]> {
        LiveValues(
            database, of: ObservationOrigin("conflicts"), fetch: { [database] in try database.conflicts($0) },
            map: { stored in stored.map { RecordConflict(store: self, stored: $0) } })
    }
}
