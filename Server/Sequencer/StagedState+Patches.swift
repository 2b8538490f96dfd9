import TidemarkModel
import TidemarkStore

extension StagedState {
    /// Stages what patches make of a record, looking only at the fields that they are for: the body is not encoded, its
    /// size is kept along, and members are compared only where the patches list them.
    ///
    /// - Returns: the fields before and after.
    mutating func patch(
        _ step: Step, _ record: StoredRecord, _ patches: [NamedPatch], _ principal: Principal, _ limits: ModelLimits
    ) throws(Rejection) -> (before: Fields, after: Fields) {
        let before = try fields(of: step.key, in: step.collection)
        var size = BodySize(bytes: bytes(of: step.key))
        let patched = Self.fields(of: patches, in: step.collection)
        for name in patched {
            let old = before.jsonSize(of: name)
            try spend(old)
            size.remove(old)
        }
        let after = try RecordMerge.updated(before, patches, in: step.collection, isService: principal.isService)
        for name in patched {
            let new = after.jsonSize(of: name)
            try spend(new)
            size.add(new)
        }
        if case .field(let name) = step.collection.scope, before[name] != after[name] {
            throw Rejection(.invalid, "\(step.collection.name).\(name): a record cannot move to another scope")
        }
        try checkIdentity(step, before, after, record, principal)
        try checkSize(size.bytes, step.collection, limits)
        var record = record
        record.updated = time
        _ = write(record, fields: after, bytes: size.bytes, isEncoded: false)
        let lists = [step.collection.memberField, step.collection.adminField]
        if patched.contains(where: { lists.contains($0) }) {
            try changeMembers(step, record, from: before, to: after, limits)
        }
        return (before, after)
    }

    /// The fields that the patches are for, each once; what the schema does not know is refused by the merge.
    private static func fields(of patches: [NamedPatch], in collection: CollectionSchema) -> [String] {
        var names: [String] = []
        for patch in patches {
            if let name = collection.field(patch.field)?.name, !names.contains(name) { names.append(name) }
        }
        return names
    }
}

/// Bytes of a record's body while its fields change.
private struct BodySize {
    /// Its members, each with the comma or the brace behind it.
    private var members: Int

    init(bytes: Int) { members = bytes > 2 ? bytes - 1 : 0 }

    var bytes: Int { members + (members == 0 ? 2 : 1) }

    /// - Parameter bytes: of a member; 0 is none.
    mutating func remove(_ bytes: Int) { members -= bytes == 0 ? 0 : bytes + 1 }

    /// - Parameter bytes: of a member; 0 is none.
    mutating func add(_ bytes: Int) { members += bytes == 0 ? 0 : bytes + 1 }
}
