import TidemarkModel

extension Mutation {
    /// The mutation with a mark of the shown value in each field that it replaces (CONFLICTS.md).
    ///
    /// A patch that has a mark keeps it: it was written earlier, and the mark is the value that its writer saw then.
    func marked(_ shown: Fields, in collection: CollectionSchema) -> Mutation {
        guard case .update(let patches) = action else { return self }
        let marked = patches.map { named in
            guard named.seen == nil, let field = collection.field(named.field), field.merge.replacesValues else {
                return named
            }
            switch named.patch {
            case .set, .unset, .keys:
                let seen = ValueMark(named.patch.part(of: shown[field.name]), of: field)
                return NamedPatch(named.field, named.patch, seen: seen)
            case .increment, .add, .remove, .max: return named
            }
        }
        return Mutation(key: key, action: .update(marked))
    }
}

extension [Mutation] {
    /// The mutations with the marks of an earlier version of the write, for fields that it also replaced.
    func keepingMarks(of written: [Mutation]) -> [Mutation] {
        var marks: [RecordKey: [String: ValueMark]] = [:]
        for mutation in written {
            // Of two patches of one field, only the first saw the value from before the transaction.
            for named in mutation.patches {
                guard let seen = named.seen, marks[mutation.key]?[named.field] == nil else { continue }
                marks[mutation.key, default: [:]][named.field] = seen
            }
        }
        return map { mutation in
            guard case .update(let patches) = mutation.action else { return mutation }
            let kept = patches.map { named in
                let mark = marks[mutation.key]?.removeValue(forKey: named.field)
                return NamedPatch(named.field, named.patch, seen: named.seen ?? mark)
            }
            return Mutation(key: mutation.key, action: .update(kept))
        }
    }
}
