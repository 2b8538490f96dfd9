import GRDB
import TidemarkModel

/// One record's conflict as it is stored in the database.
struct StoredConflict: Hashable, Sendable {
    /// One field with both values; `nil` for none.
    struct Field: Hashable, Sendable {
        var name: String
        var mine: FieldValue?
        var theirs: FieldValue?
    }

    var key: RecordKey
    var fields: [Field]

    func field(_ name: String) -> Field? { fields.first { $0.name == name } }
}

extension LocalDatabase {
    /// Returns all conflicts that wait for the app, by record.
    func conflicts(_ db: Database) throws -> [StoredConflict] {
        try ConflictTable(db: db).records().compactMap { try conflict(of: $0, db) }
    }

    /// Returns the open conflict of one record; `nil` without one.
    private func conflict(of key: RecordKey, _ db: Database) throws -> StoredConflict? {
        guard let collection = tables[key.collection]?.collection else { return nil }
        let records = RecordTable(db, self)
        var mine: [String: FieldPatch] = [:]
        for transaction in try ConflictTable(db: db).transactions(of: key) {
            for mutation in transaction.mutations where mutation.key == key {
                for named in mutation.manualPatches(in: collection) { mine[named.field] = named.patch }
            }
        }
        let theirs = try (records.base(key) ?? records.visible(key))?.fields
        let fields = mine.sorted { $0.key < $1.key }.map { name, patch in
            StoredConflict.Field(name: name, mine: patch.replacement, theirs: theirs?[name])
        }
        return fields.isEmpty ? nil : StoredConflict(key: key, fields: fields)
    }

    /// Settles fields of a record's conflict: writes the chosen values over what the record shows now.
    ///
    /// - Parameters:
    ///   - conflict: the conflict as the app saw it.
    ///   - choices: the patches to write, by field; `nil` leaves the server's value.
    /// - Returns: false when there was nothing to write.
    /// - Throws: `StoreError` with `refused` when the record is gone, a value does not fit, or one of the two values to
    ///   choose from has changed; nothing is changed then.
    func resolve(
        _ conflict: StoredConflict, _ choices: [String: FieldPatch?], id: TransactionID, at time: Milliseconds,
        _ db: Database
    ) throws -> Bool {
        let key = conflict.key
        let collection = try table(key.collection).collection
        try check(choices, of: conflict, db)
        let conflicts = ConflictTable(db: db)
        let parking = Parking(db: db)
        for var transaction in try conflicts.transactions(of: key) {
            transaction.mutations = transaction.mutations.compactMap { $0.key == key ? $0.without(choices.keys) : $0 }
            let isOpen = transaction.mutations.contains {
                $0.key == key && !$0.manualPatches(in: collection).isEmpty
            }
            if !isOpen { try conflicts.settle(key, transaction.id) }
            if try conflicts.holds(transaction.id) {
                try parking.rewrite(transaction)
            } else {
                try discardParked(transaction.id, db)
            }
        }
        let chosen = choices.sorted { $0.key < $1.key }.compactMap { name, patch in patch.map { NamedPatch(name, $0) } }
        guard !chosen.isEmpty else { return false }
        var draft = try WriteDraft(self, db, time: time)
        try draft.stage(Mutation(key: key, action: .update(chosen)))
        _ = try draft.enqueue(id)
        return true
    }

    /// Checks that the values to choose from are still those that were shown. To keep the other's value only gives up
    /// the own one and replaces nothing, so only the own one has to be unchanged. Once everything is chosen, nothing is
    /// left to give up.
    private func check(_ choices: [String: FieldPatch?], of conflict: StoredConflict, _ db: Database) throws {
        let now = try self.conflict(of: conflict.key, db)
        for (name, patch) in choices.sorted(by: { $0.key < $1.key }) {
            let (shown, current) = (conflict.field(name), now?.field(name))
            let isShown = patch == nil ? current == nil || current?.mine == shown?.mine : current == shown
            guard isShown else {
                throw StoreError(
                    Rejection(
                        .conflict, "\(conflict.key).\(name): changed since the conflict was read; read it again"))
            }
        }
    }
}

extension FieldPatch {
    /// The value that a replacing patch would leave in the field.
    fileprivate var replacement: FieldValue? {
        if case .set(let value) = self, value != .null { value } else { nil }
    }
}

extension Mutation {
    /// Returns the mutation without patches of these fields; `nil` when nothing is left.
    fileprivate func without(_ fields: some Collection<String>) -> Mutation? {
        guard case .update(let patches) = action else { return self }
        let left = patches.filter { !fields.contains($0.field) }
        return left.isEmpty ? nil : Mutation(key: key, action: .update(left))
    }
}
