import TidemarkModel

extension LocalRecord {
    /// Returns the values that mutations gave to fields and that this later state of the record no longer has.
    func overwriting(_ mutations: [Mutation], in collection: CollectionSchema) -> [OverwrittenValue] {
        var mine: [String: FieldValue?] = [:]
        var keys: [String: Fields] = [:]
        for mutation in mutations {
            guard case .update(let patches) = mutation.action else { continue }
            for named in patches {
                guard let field = collection.field(named.field), field.merge.replacesValues else { continue }
                switch named.patch {
                case .set(let value): mine.updateValue(field.canonical(value), forKey: field.name)
                case .keys(let written):
                    for entry in written.entries { keys[field.name, default: Fields()][entry.name] = entry.value }
                case .unset: mine.updateValue(nil, forKey: field.name)
                case .increment, .add, .remove, .max: break
                }
            }
        }
        // For a map, only the keys that were written.
        let parts = keys.map { name, written in (name, FieldPatch.keys(written), FieldValue?.some(.object(written))) }
        let values = mine.map { name, value in (name, FieldPatch.unset, value) }
        return (values + parts).sorted { $0.0 < $1.0 }.compactMap { name, patch, value in
            let (old, new) = (patch.part(of: value), patch.part(of: fields[name]))
            guard let field = collection.field(name), old != new else { return nil }
            return OverwrittenValue(field: name, rule: field.merge, old: old, new: new)
        }
    }
}

extension LocalRecord {
    /// Returns the values of this state that the mutations replaced unseen, provided that it is the state they were
    /// applied to.
    func overwritten(by mutations: [Mutation], in collection: CollectionSchema) -> [OverwrittenValue] {
        var (record, found) = (self, [OverwrittenValue]())
        for mutation in mutations {
            let next = record.folding([mutation], in: collection)
            found += RecordMerge.overwritten(
                by: mutation.patches, from: record.fields, to: next.fields, in: collection)
            record = next
        }
        return found
    }
}

extension Mutation {
    /// The patches of an update; empty for any other write.
    var patches: [NamedPatch] { if case .update(let patches) = action { patches } else { [] } }
}
