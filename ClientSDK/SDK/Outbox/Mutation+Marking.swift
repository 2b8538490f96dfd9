import TidemarkModel

extension Mutation {
    /// The same with a mark of what the record shows in each field that is replaced (CONFLICTS.md).
    func marked(_ shown: Fields, in collection: CollectionSchema) -> Mutation {
        guard case .update(let patches) = action else { return self }
        let marked = patches.map { named in
            guard let field = collection.field(named.field), field.merge.replacesValues else { return named }
            switch named.patch {
            case .set, .unset:
                return NamedPatch(named.field, named.patch, seen: ValueMark(shown[field.name], of: field))
            case .increment, .add, .remove, .max: return named
            }
        }
        return Mutation(key: key, action: .update(marked))
    }
}
