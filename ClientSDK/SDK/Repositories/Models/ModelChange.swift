import TidemarkModel

/// The difference between two states of a record, as the smallest patches that each field's rule knows, so that it
/// merges with concurrent changes of others.
struct ModelChange {
    let collection: CollectionSchema
    let key: RecordKey

    /// Returns the mutations: none when nothing differs, two when elements of one set were both added and removed.
    func mutations(from old: Fields, to new: Fields) throws -> [Mutation] {
        var patches: [NamedPatch] = []
        var removals: [NamedPatch] = []
        for name in Set(old.entries.map(\.name)).union(new.entries.map(\.name)).sorted() where old[name] != new[name] {
            guard let field = collection.field(name) else {
                throw StoreError(Rejection(.invalid, "\(collection.name).\(name): no such field in the schema"))
            }
            switch field.merge {
            case .set, .elements:
                let before = elements(old[name])
                let after = elements(new[name])
                let added = after.filter { !before.contains($0) }
                let removed = before.filter { !after.contains($0) }
                if !added.isEmpty { patches.append(NamedPatch(name, .add(added))) }
                if !removed.isEmpty { removals.append(NamedPatch(name, .remove(removed))) }
            case .keys:
                let keys = changedKeys(from: old[name], to: new[name])
                if !keys.isEmpty { patches.append(NamedPatch(name, .keys(keys))) }
            case .counter: patches.append(NamedPatch(name, .increment(try step(from: old[name], to: new[name], name))))
            case .max: patches.append(NamedPatch(name, new[name].map { .max($0) } ?? .unset))
            case .lww, .manual, .immutable, .server:
                patches.append(NamedPatch(name, new[name].map { .set($0) } ?? .unset))
            }
        }
        return [patches, removals].filter { !$0.isEmpty }.map { Mutation(key: key, action: .update($0)) }
    }

    private func elements(_ value: FieldValue?) -> [FieldValue] {
        if case .array(let elements)? = value { elements } else { [] }
    }

    /// Returns the changed keys with their new values, `null` for removed ones.
    private func changedKeys(from old: FieldValue?, to new: FieldValue?) -> Fields {
        let (old, new) = (members(old), members(new))
        var keys = Fields()
        for entry in old.entries where new[entry.name] == nil { keys[entry.name] = .null }
        for entry in new.entries where old[entry.name] != entry.value { keys[entry.name] = entry.value }
        return keys
    }

    private func members(_ value: FieldValue?) -> Fields {
        guard case .object(let fields)? = value else { return Fields() }
        return Fields(sorted: fields.entries.filter { $0.value != .null })
    }

    private func step(from old: FieldValue?, to new: FieldValue?, _ name: String) throws -> FieldValue {
        switch (old, new) {
        case (.integer(let old)?, .integer(let new)?):
            let (step, overflow) = new.subtractingReportingOverflow(old)
            if !overflow { return .integer(step) }
        case (.double(let old)?, .double(let new)?): return .double(new - old)
        case (nil, .some(let new)): return new
        default: break
        }
        throw StoreError(Rejection(.invalid, "\(collection.name).\(name): a counter can only change by a number"))
    }
}
