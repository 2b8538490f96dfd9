/// The rules that tie the parts of a schema together.
enum SchemaRules {
    static let collectionsMax = 256
    static let fieldsMax = 256

    static func check(_ schema: Schema) throws(SchemaError) {
        guard schema.collections.count <= collectionsMax else {
            throw SchemaError("more than \(collectionsMax) collections")
        }
        for name in schema.removedCollections.sorted() {
            guard SchemaReader.isIdentifier(name) else { throw SchemaError("\"removed\" is a list of names") }
            guard !schema.collections.contains(where: { $0.name == name || $0.was == name }) else {
                throw SchemaError(collection: name, "is defined, so \"removed\" must not list it")
            }
        }
        var tables: Set<String> = []
        for collection in schema.collections {
            guard tables.insert(collection.name.lowercased()).inserted else {
                throw SchemaError(collection: collection.name, "differs from another collection only by case")
            }
            if let was = collection.was {
                guard schema.collection(was) == nil else {
                    throw SchemaError(collection: collection.name, "\"was\" names a collection that exists: \(was)")
                }
                guard schema.collections.filter({ $0.was == was }).count == 1 else {
                    throw SchemaError(collection: collection.name, "two collections cannot both have been \(was)")
                }
                guard SchemaReader.isIdentifier(was) else {
                    throw SchemaError(collection: collection.name, "\"was\" is not a valid name of a collection")
                }
            }
            try check(collection, in: schema)
        }
    }

    private static func check(_ collection: CollectionSchema, in schema: Schema) throws(SchemaError) {
        func error(_ reason: String, field: String? = nil) -> SchemaError {
            SchemaError(collection: collection.name, field: field, reason)
        }
        guard collection.fields.count <= fieldsMax else { throw error("more than \(fieldsMax) fields") }
        switch collection.scope {
        case .ownRecord:
            guard collection.memberField != nil else {
                throw error("\"members\" must name the set field that lists its members")
            }
        case .field(let name):
            guard let field = collection.field(name) else { throw error("\"scope\" names a field that does not exist") }
            guard field.type == .reference || field.type == .string, field.isRequired, field.merge == .immutable else {
                throw error("holds the scope: it must be a required, immutable reference or string", field: name)
            }
        case .shared:
            break
        }
        for name in [collection.memberField, collection.adminField].compactMap({ $0 }) {
            guard collection.scope == .ownRecord else {
                throw error("only a collection with scope \"self\" lists members")
            }
            guard let field = collection.field(name), field.type == .set else {
                throw error("must be a set field", field: name)
            }
        }
        try checkIdentity(of: collection)
        for name in collection.removedFields.sorted() {
            guard SchemaReader.isIdentifier(name) else { throw error("\"removed\" is a list of names") }
            guard !collection.fields.contains(where: { $0.name == name || $0.formerNames.contains(name) }) else {
                throw error("is defined, so \"removed\" must not list it", field: name)
            }
        }
        var columns: Set<String> = []
        for field in collection.fields {
            guard columns.insert(field.name.lowercased()).inserted else {
                throw error("differs from another field only by case", field: field.name)
            }
            try check(field, of: collection, in: schema)
        }
    }

    private static func checkIdentity(of collection: CollectionSchema) throws(SchemaError) {
        guard let identity = collection.identity else { return }
        func error(_ reason: String) -> SchemaError { SchemaError(collection: collection.name, "\"id\" \(reason)") }
        if let key = identity.keyField {
            guard let field = collection.field(key) else { throw error("names no field: \(key)") }
            guard field.type == .string, field.isRequired, field.merge == .immutable else {
                throw error("must be made of a required, immutable string, and \(key) is not one")
            }
            guard collection.scope != .ownRecord else {
                throw error("of a key is not for scopes: the first user to create one would own it")
            }
            return
        }
        for part in identity.parts where part != IdentityRule.author {
            guard let field = collection.field(part) else { throw error("names no field: \(part)") }
            guard field.isRequired, [.string, .reference, .set].contains(field.type) else {
                throw error("must be made of required strings, references and sets, and \(part) is not one")
            }
        }
        let binding = [IdentityRule.author, collection.memberField].compactMap { $0 }
        guard identity.parts.contains(where: binding.contains) else {
            throw error("must be made of \(binding.joined(separator: " or ")), so that nobody takes another user's id")
        }
    }

    private static func check(
        _ field: FieldSchema, of collection: CollectionSchema, in schema: Schema
    ) throws(SchemaError) {
        func error(_ reason: String) -> SchemaError {
            SchemaError(collection: collection.name, field: field.name, reason)
        }
        switch field.merge {
        case .set, .elements:
            guard field.type == .set else { throw error("rule \(field.merge.rawValue) needs type set") }
        case .keys:
            guard field.type == .map else { throw error("rule keys needs type map") }
        case .counter:
            guard field.type == .integer || field.type == .double else { throw error("rule counter needs a number") }
        case .max:
            guard [.integer, .double, .timestamp, .string].contains(field.type) else {
                throw error("rule max needs a number, timestamp or string")
            }
        case .lww, .manual, .immutable, .server:
            break
        }
        if field.isSearchable, field.type != .string { throw error("only a string is searchable") }
        for was in field.formerNames {
            guard SchemaReader.isIdentifier(was) else { throw error("\"was\" is not a valid name of a field") }
            guard collection.field(was) == nil else { throw error("\"was\" names a field that exists: \(was)") }
            guard collection.fields.flatMap(\.formerNames).filter({ $0 == was }).count == 1 else {
                throw error("two fields cannot both have been \(was)")
            }
        }
        if let target = field.target {
            guard field.type == .reference else { throw error("\"to\" needs type reference") }
            guard schema.collection(target) != nil else { throw error("\"to\" names no collection: \(target)") }
        }
        if field.isWithinScope { try checkWithin(field, of: collection, in: schema, error) }
        try checkDefault(of: field, error)
        try checkConstraint(of: field, error)
        if field.merge == .server, field.isRequired { throw error("a server field cannot be required of clients") }
    }

    /// Checks that a reference within its scope can name a record there. Records of a shared scope are never in another
    /// one, and the field that holds the scope names the scope's own record anyway.
    private static func checkWithin(
        _ field: FieldSchema, of collection: CollectionSchema, in schema: Schema, _ error: (String) -> SchemaError
    ) throws(SchemaError) {
        guard field.type == .reference, let target = field.target else {
            throw error("\"within\" needs type reference and \"to\", which names the collection")
        }
        guard collection.scope != .field(field.name) else {
            throw error("holds the scope, so \"within\" has no effect: remove it")
        }
        if case .shared(let own) = collection.scope {
            guard schema.collection(target)?.scope == .shared(own) else {
                throw error("\"within\": records of \(target) are never in the scope that \(collection.name) share")
            }
        } else if case .shared? = schema.collection(target)?.scope {
            throw error("\"within\": records of \(target) are in a shared scope, never in that of \(collection.name)")
        }
    }

    /// Checks that a default is the only reading of an absent value, and that nothing relies on a stored value.
    private static func checkDefault(
        of field: FieldSchema, _ error: (String) -> SchemaError
    ) throws(SchemaError) {
        guard let value = field.defaultValue else { return }
        if field.isRequired { throw error("a required field is never absent, so it takes no \"default\"") }
        guard field.merge.replacesValues || field.merge == .immutable else {
            throw error("rule \(field.merge.rawValue) starts at its own value, so the field takes no \"default\"")
        }
        if field.isSearchable {
            throw error("search only finds stored words, so a field with \"search\" takes no \"default\"")
        }
        guard case .string(let text) = value else { return }
        if text.utf8.count > field.sizeMax { throw error("\"default\" is larger than \"max\"") }
        if text.utf8.contains(0) { throw error("\"default\" has a NUL in it") }
    }
}
