import GRDB
import TidemarkModel

/// One record's conflict as it stands in the database.
struct StoredConflict: Hashable, Sendable {
    /// One field with both values; `nil` for none.
    struct Field: Hashable, Sendable {
        var name: String
        var mine: FieldValue?
        var theirs: FieldValue?
    }

    var key: RecordKey
    var fields: [Field]
}

extension LocalDatabase {
    /// All conflicts that wait for the app, by record.
    func conflicts(_ db: Database) throws -> [StoredConflict] {
        let table = ConflictTable(db: db)
        let records = RecordTable(db, self)
        return try table.records().compactMap { key in
            guard let collection = tables[key.collection]?.collection else { return nil }
            var mine: [String: FieldPatch] = [:]
            for transaction in try table.transactions(of: key) {
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
    }

    /// Settles fields of a record's conflict: writes the chosen values over what the record shows now, together with
    /// whatever else the refused transactions held, once nothing in them is left to choose.
    ///
    /// - Parameter choices: by field, what to write; `nil` leaves the server's value.
    /// - Returns: false when there was nothing to write.
    /// - Throws: `StoreError` with `refused` when the record is gone, or a value does not fit; nothing is then changed.
    func resolve(
        _ key: RecordKey, _ choices: [String: FieldPatch?], id: TransactionID, at time: Milliseconds, _ db: Database
    ) throws -> Bool {
        let collection = try table(key.collection).collection
        let conflicts = ConflictTable(db: db)
        let parking = Parking(db: db)
        var rest: [Mutation] = []
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
                rest += transaction.mutations
            }
        }
        let chosen = choices.sorted { $0.key < $1.key }.compactMap { name, patch in patch.map { NamedPatch(name, $0) } }
        if !chosen.isEmpty { rest.append(Mutation(key: key, action: .update(chosen))) }
        guard !rest.isEmpty else { return false }
        var draft = try WriteDraft(self, db, time: time)
        for mutation in rest { try draft.stage(mutation) }
        _ = try draft.enqueue(id)
        return true
    }
}

extension FieldPatch {
    /// What a patch that replaces would leave in the field.
    fileprivate var replacement: FieldValue? {
        if case .set(let value) = self, value != .null { value } else { nil }
    }
}

extension Mutation {
    /// The same without patches of these fields; `nil` when nothing is left.
    fileprivate func without(_ fields: some Collection<String>) -> Mutation? {
        guard case .update(let patches) = action else { return self }
        let left = patches.filter { !fields.contains($0.field) }
        return left.isEmpty ? nil : Mutation(key: key, action: .update(left))
    }
}
