/// Merges whole records by the schema: the one fold that server, client and oracle share.
package enum RecordMerge {
    /// Returns the canonical fields of a new record.
    ///
    /// Fields that the schema does not name are refused: a typo must not become data.
    /// - Throws: `invalid` or `too_large`, naming collection, field and reason.
    package static func created(
        _ fields: Fields, in collection: CollectionSchema, isService: Bool
    ) throws(Rejection) -> Fields {
        var result = Fields(capacity: fields.entries.count)
        for entry in fields.entries where entry.value != .null {
            guard let field = collection.field(entry.name) else {
                throw Rejection(.invalid, "\(collection.name).\(entry.name.excerpt()): no such field in the schema")
            }
            if field.merge == .server, !isService {
                throw Rejection(.invalid, "\(collection.name).\(entry.name): only the server writes it")
            }
            guard let value = field.canonical(entry.value) else {
                throw Rejection(
                    .invalid,
                    "\(collection.name).\(entry.name): must be \(field.type.rawValue), not \(entry.value.kind)")
            }
            guard !collection.hasAliases || result[field.name] == nil else {
                throw Rejection(.invalid, "\(collection.name).\(entry.name): given under two names")
            }
            try checkSize(value, field, collection)
            result[field.name] = value
        }
        for field in collection.fields where field.isRequired && result[field.name] == nil {
            throw Rejection(.invalid, "\(collection.name).\(field.name): is required")
        }
        if let key = collection.identity?.keyField, case .string(let text)? = result[key], !IdentityRule.isKey(text) {
            throw Rejection(
                .invalid, "\(collection.name).\(key): a key is 1 to 128 bytes without control characters")
        }
        return result
    }

    /// Returns the fields after the patches, applied in their order, all or none.
    ///
    /// - Throws: the refusal, with `conflict` where a `manual` field is contested.
    package static func updated(
        _ current: Fields, _ patches: [NamedPatch], in collection: CollectionSchema, isService: Bool
    ) throws(Rejection) -> Fields {
        let merged = try merged(current, patches, in: collection, isService: isService)
        if let field = merged.contested.first { throw contested(field, in: collection) }
        return merged.fields
    }

    /// Returns the fields after the patches, applied in their order. Patches of `manual` fields that were changed since
    /// the writer saw them are skipped; they do not hold up the others.
    ///
    /// - Returns: the fields, and the names of the contested ones as the patches spell them.
    package static func merged(
        _ current: Fields, _ patches: [NamedPatch], in collection: CollectionSchema, isService: Bool
    ) throws(Rejection) -> (fields: Fields, contested: [String]) {
        var result = current
        var contested: [String] = []
        for (index, named) in patches.enumerated() {
            if patches[..<index].contains(where: { collection.isSameField($0.field, named.field) }) {
                throw Rejection(.invalid, "\(collection.name).\(named.field.excerpt()): patched twice in one mutation")
            }
            guard let field = collection.field(named.field) else {
                throw Rejection(.invalid, "\(collection.name).\(named.field.excerpt()): no such field in the schema")
            }
            let value: FieldValue?
            do {
                value = try FieldMerge.apply(named, to: result[field.name], field: field, isService: isService)
            } catch {
                guard let refusal = error.reason else {
                    contested.append(named.field)
                    continue
                }
                throw Rejection(.invalid, "\(collection.name).\(field.name): \(refusal)")
            }
            if let value { try checkSize(value, field, collection) }
            result[field.name] = value
        }
        return (result, contested)
    }

    private static func checkSize(
        _ value: FieldValue, _ field: FieldSchema, _ collection: CollectionSchema
    ) throws(Rejection) {
        if field.merge == .keys, case .object(let map) = value, let refusal = MapMerge.refusal(of: map) {
            throw Rejection(refusal.code, "\(collection.name).\(field.name): \(refusal.message)")
        }
        let size: Int
        switch value {
        case .string(let text): size = text.utf8.count
        case .array(let elements) where field.type == .set: size = elements.count
        case .array, .object: size = value.json.utf8.count
        case .null, .boolean, .integer, .double: size = 0
        }
        guard size <= field.sizeMax else {
            throw Rejection(
                .tooLarge, "\(collection.name).\(field.name): \(size) is over the limit of \(field.sizeMax)")
        }
    }
}

/// The relation of a user to one record, by which access rules are judged.
package struct Standing: Hashable, Sendable {
    /// The user's role in the record's scope; `nil` if the user is not a member.
    package var role: Role?
    /// True when the user created the record.
    package var isAuthor: Bool
    package var isService: Bool

    package init(role: Role?, isAuthor: Bool, isService: Bool) {
        self.role = role
        self.isAuthor = isAuthor
        self.isService = isService
    }

    /// True when one of the accessors is this user. Authors must still be members: leaving a scope ends every right in
    /// it.
    package func satisfies(_ accessors: Set<Accessor>) -> Bool {
        if isService { return true }
        if accessors.contains(.anyone) { return true }
        guard let role else { return false }
        if isAuthor, accessors.contains(.author) { return true }
        switch role {
        case .member: return accessors.contains(.member)
        case .admin: return accessors.contains(.member) || accessors.contains(.admin)
        case .owner: return accessors.contains(.member) || accessors.contains(.admin) || accessors.contains(.owner)
        }
    }

    /// True when the collection's rule and the fields' own rules permit the patches.
    package func mayChange(_ patches: [NamedPatch], in collection: CollectionSchema) -> Bool {
        patches.allSatisfy { named in satisfies(collection.field(named.field)?.change ?? collection.change) }
    }

    /// Returns the first field of a restore's differences that this user may not change.
    package func refused(_ differences: [OverwrittenValue], in collection: CollectionSchema) -> FieldSchema? {
        differences.lazy.compactMap { collection.field($0.field) }.first { !satisfies($0.change ?? collection.change) }
    }

    /// Returns the first field that this user may not give a value at the creation (R-154).
    package func refused(creating fields: Fields, in collection: CollectionSchema) -> FieldSchema? {
        guard collection.hasCreationRules else { return nil }
        return collection.fields.first { field in
            guard let accessors = field.creators, let value = fields[field.name], !field.isAbsence(value) else {
                return false
            }
            return !satisfies(accessors)
        }
    }
}

extension CollectionSchema {
    /// The users who may create records: `anyone` opens scopes; inside a scope it means its members.
    package var creatorsInScope: Set<Accessor> {
        guard case .field = scope, create.contains(.anyone) else { return create }
        return create.subtracting([.anyone]).union([.member])
    }
}

extension CollectionSchema {
    /// The refusal of a change that takes the last member out of a scope.
    package var emptied: Rejection {
        Rejection(.invalid, "\(name).\(memberField ?? ""): a scope keeps a member: delete its record instead")
    }

    /// Returns the refusal of a reference to a record that is not in the scope of the record that names it.
    package func strayReference(_ field: FieldSchema) -> Rejection {
        Rejection(.notFound, "\(name).\(field.name): names no record of \(field.target ?? "") in the same scope")
    }
}
