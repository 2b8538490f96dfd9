/// Whole records merged by the schema: the one fold that server, client and oracle share.
package enum RecordMerge {
    /// The canonical fields of a new record.
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

    /// The fields after the patches, applied in their order.
    package static func updated(
        _ current: Fields, _ patches: [NamedPatch], in collection: CollectionSchema, isService: Bool
    ) throws(Rejection) -> Fields {
        var result = current
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
                throw Rejection(error.code, "\(collection.name).\(field.name): \(error.reason)")
            }
            if let value { try checkSize(value, field, collection) }
            result[field.name] = value
        }
        return result
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
