import TidemarkModel

/// The state that the writer of a change had seen. It may be older than what the device shows by now: a form that was
/// open while others wrote. The marks of the change report it to the server (CONFLICTS.md).
struct WriterSight: Sendable {
    /// The fields as the model that was read has them.
    let seen: Fields
    /// Returns a record's fields as the model has them: with its defaults, and without fields unknown to it.
    let modelled: @Sendable (LocalRecord) throws -> Fields

    /// Returns the mutation with marks for the fields that others have changed since. All other fields get theirs from
    /// the record as it is shown.
    ///
    /// - Parameters:
    ///   - base: the record without this device's pending writes: the difference is the user's own work, and seen.
    func marking(
        _ mutation: Mutation, _ shown: LocalRecord, in collection: CollectionSchema, base: () throws -> LocalRecord?
    ) throws -> Mutation {
        guard case .update(let patches) = mutation.action, shown.existence == .live else { return mutation }
        let differing = patches.filter { named in
            guard let field = collection.field(named.field), field.merge.replacesValues else { return false }
            return named.patch.part(of: seen[field.name]) != named.patch.part(of: shown.fields[field.name])
        }
        guard !differing.isEmpty else { return mutation }
        let known = try [shown, base()].compactMap { try $0.map(fields) }
        let marked = patches.map { named in
            guard differing.contains(named), let field = collection.field(named.field) else { return named }
            let value = named.patch.part(of: seen[field.name])
            if known.contains(where: { named.patch.part(of: $0[field.name]) == value }) { return named }
            return NamedPatch(named.field, named.patch, seen: ValueMark(value, of: field))
        }
        return Mutation(key: mutation.key, action: .update(marked))
    }

    private func fields(_ record: LocalRecord) throws -> Fields {
        do {
            return try modelled(record)
        } catch let error as StoreError where error.code == .coding {
            // The model cannot represent the record any more: its bare fields are compared.
            return record.fields
        }
    }
}
