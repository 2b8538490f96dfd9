/// Turns a schema document into a `Schema`; refuses every key that it does not know, by its name.
enum SchemaReader {
    static func read(_ json: [UInt8]) throws(SchemaError) -> Schema {
        let document: Fields
        do {
            document = try JSONReader.read(json) { try $0.fields() }
        } catch {
            throw SchemaError("not valid JSON: \(error)")
        }
        var object = SchemaObject(document)
        guard try object.integer("tidemark") == 1 else {
            throw SchemaError("\"tidemark\" must be 1, the format's version")
        }
        let name = try object.string("name") ?? "app"
        let version = try object.integer("version") ?? 1
        guard let collections = try object.object("collections"), !collections.isEmpty else {
            throw SchemaError("\"collections\" must be an object with at least one collection")
        }
        let removed = try object.strings("removed") ?? []
        try object.end()
        var read: [CollectionSchema] = []
        for entry in collections.entries { read.append(try collection(entry)) }
        let schema = Schema(name: name, version: version, collections: read, removedCollections: Set(removed))
        try SchemaRules.check(schema)
        return schema
    }

    private static func collection(_ entry: Fields.Entry) throws(SchemaError) -> CollectionSchema {
        let name = entry.name
        guard isIdentifier(name) else {
            throw SchemaError(collection: name, "a name is a letter followed by letters, digits and _, at most 48")
        }
        if let reason = ReservedNames.reason(against: name) { throw SchemaError(collection: name, reason) }
        guard case .object(let body) = entry.value else { throw SchemaError(collection: name, "must be an object") }
        var object = SchemaObject(body, collection: name)
        let was = try object.string("was")
        let isAppendOnly = try mode(&object)
        let scope = try scopeRule(&object)
        let memberField = try object.string("members")
        let adminField = try object.string("admins")
        let identity = try identity(&object, of: name)
        let create = try object.accessors("create") ?? (scope == .ownRecord ? [.anyone] : [.member])
        let change = try object.accessors("change") ?? [.member]
        let delete = try object.accessors("delete") ?? (isAppendOnly ? [.author] : [.member])
        guard let declared = try object.object("fields") else {
            throw SchemaError(collection: name, "\"fields\" is missing")
        }
        let removed = try object.strings("removed") ?? []
        var fields: [FieldSchema] = []
        for entry in declared.entries { fields.append(try field(entry, of: name, isAppendOnly: isAppendOnly)) }
        let rules = try RuleReader.rules(&object, fields, of: name)
        try object.end()
        return CollectionSchema(
            name: name, was: was, fields: fields, scope: scope, memberField: memberField, adminField: adminField,
            identity: identity, create: create, change: change, delete: delete,
            removedFields: Set(removed), rules: rules)
    }

    private static func mode(_ object: inout SchemaObject) throws(SchemaError) -> Bool {
        switch try object.string("mode") ?? "fields" {
        case "fields": return false
        case "append-only": return true
        default: throw object.error("\"mode\" is \"fields\" or \"append-only\"")
        }
    }

    private static func identity(
        _ object: inout SchemaObject, of collection: String
    ) throws(SchemaError) -> IdentityRule? {
        guard let body = try object.object("id") else { return nil }
        var rule = SchemaObject(body, collection: collection)
        let name = try rule.string("name")
        let parts = try rule.strings("of")
        let key = try rule.string("key")
        try rule.end()
        guard let name, isIdentifier(name), (parts?.isEmpty == false) != (key != nil) else {
            throw object.error(
                "\"id\" is {\"name\": NAME, \"of\": [FIELD, …]}, where author may stand for a field, or {\"name\": NAME, \"key\": "
                    + "FIELD}")
        }
        return IdentityRule(name: name, parts: key.map { [$0] } ?? parts ?? [], isKey: key != nil)
    }

    private static func scopeRule(_ object: inout SchemaObject) throws(SchemaError) -> ScopeRule {
        switch object.take("scope") {
        case .string("self"): return .ownRecord
        case .string(let field): return .field(field)
        case .object(let shared):
            guard shared.entries.count == 1, case .string(let text)? = shared["shared"],
                let scope = ScopeID(checking: text)
            else { throw object.error("\"scope\" as an object is {\"shared\": \"name\"}") }
            return .shared(scope)
        default: throw object.error("\"scope\" is missing: \"self\", a field's name or {\"shared\": \"name\"}")
        }
    }

    private static func field(
        _ entry: Fields.Entry, of collection: String, isAppendOnly: Bool
    ) throws(SchemaError) -> FieldSchema {
        let name = entry.name
        guard isIdentifier(name) else {
            throw SchemaError(
                collection: collection, field: name, "a name is a letter followed by letters, digits and _, at most 48")
        }
        guard !ReservedNames.columns.contains(name.lowercased()) else {
            throw SchemaError(collection: collection, field: name, "is the name of a column that every record has")
        }
        let body: Fields
        switch entry.value {
        case .string(let type): body = ["type": .string(type)]
        case .object(let fields): body = fields
        default: throw SchemaError(collection: collection, field: name, "is a type's name or an object with \"type\"")
        }
        var object = SchemaObject(body, collection: collection, field: name)
        guard let type = try object.choice("type", FieldType.self) else { throw object.error("\"type\" is missing") }
        var field = FieldSchema(name: name, type: type)
        field.isRequired = try object.boolean("required") ?? false
        if let size = try object.integer("max") {
            guard (1...Int64(FieldSchema.sizeMaxLargest)).contains(size) else {
                throw object.error("\"max\" is between 1 and \(FieldSchema.sizeMaxLargest)")
            }
            field.sizeMax = Int(size)
        }
        field.merge = try object.choice("merge", MergeRule.self) ?? (isAppendOnly ? .immutable : .lww)
        field.change = try object.accessors("change")
        field.create = try object.accessors("create")
        field.isIndexed = try object.boolean("index") ?? false
        field.isSearchable = try object.boolean("search") ?? false
        field.target = try object.string("to")
        if let within = try object.string("within") {
            guard within == "scope" else { throw object.error("\"within\" is \"scope\"") }
            field.isWithinScope = true
        }
        field.formerNames = try object.names("was")
        if let value = object.take("default") { field.defaultValue = try defaultValue(value, type, object) }
        field.constraint = try FieldConstraint.read(&object, type)
        try object.end()
        return field
    }

    private static func defaultValue(
        _ value: FieldValue, _ type: FieldType, _ object: SchemaObject
    ) throws(SchemaError) -> FieldValue {
        guard type.takesDefault else {
            throw object.error(
                "\"default\" is for strings, numbers, booleans and timestamps, and the field is \(type.rawValue)")
        }
        guard let canonical = type.canonical(value) else {
            throw object.error("\"default\" must be \(type.rawValue), not \(value.kind)")
        }
        return canonical
    }

    static func isIdentifier(_ text: String) -> Bool {
        guard let first = text.utf8.first, (1...48).contains(text.utf8.count) else { return false }
        let isLetter = { (byte: UInt8) in (65...90).contains(byte) || (97...122).contains(byte) }
        return isLetter(first) && text.utf8.allSatisfy { isLetter($0) || (48...57).contains($0) || $0 == 95 }
    }
}
