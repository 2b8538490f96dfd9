/// One JSON object of a schema document, consumed key by key so that an unknown key is an error.
struct SchemaObject {
    private var remaining: Fields
    private let collection: String?
    private let field: String?

    init(_ fields: Fields, collection: String? = nil, field: String? = nil) {
        remaining = fields
        self.collection = collection
        self.field = field
    }

    func error(_ reason: String) -> SchemaError { SchemaError(collection: collection, field: field, reason) }

    mutating func take(_ key: String) -> FieldValue? {
        defer { remaining[key] = nil }
        return remaining[key]
    }

    mutating func string(_ key: String) throws(SchemaError) -> String? {
        guard let value = take(key) else { return nil }
        guard case .string(let text) = value else { throw error("\"\(key)\" must be a string") }
        return text
    }

    mutating func integer(_ key: String) throws(SchemaError) -> Int64? {
        guard let value = take(key) else { return nil }
        guard case .integer(let number) = value else { throw error("\"\(key)\" must be a whole number") }
        return number
    }

    /// Returns a number that counts something.
    mutating func count(_ key: String) throws(SchemaError) -> Int? {
        guard let number = try integer(key) else { return nil }
        guard (0...Int64(FieldSchema.sizeMaxLargest)).contains(number) else {
            throw error("\"\(key)\" is between 0 and \(FieldSchema.sizeMaxLargest)")
        }
        return Int(number)
    }

    /// Returns an object inside this one; its errors name the key.
    func nested(_ fields: Fields, _ key: String) -> SchemaObject {
        SchemaObject(fields, collection: collection, field: [field, key].compactMap { $0 }.joined(separator: "."))
    }

    mutating func boolean(_ key: String) throws(SchemaError) -> Bool? {
        guard let value = take(key) else { return nil }
        guard case .boolean(let flag) = value else { throw error("\"\(key)\" must be true or false") }
        return flag
    }

    mutating func object(_ key: String) throws(SchemaError) -> Fields? {
        guard let value = take(key) else { return nil }
        guard case .object(let fields) = value else { throw error("\"\(key)\" must be an object") }
        return fields
    }

    mutating func strings(_ key: String) throws(SchemaError) -> [String]? {
        guard let value = take(key) else { return nil }
        guard case .array(let elements) = value else { throw error("\"\(key)\" must be a list of strings") }
        var texts: [String] = []
        for element in elements {
            guard case .string(let text) = element else { throw error("\"\(key)\" must be a list of strings") }
            texts.append(text)
        }
        return texts
    }

    /// Returns one string or a list of them; an empty list if the key is missing.
    mutating func names(_ key: String) throws(SchemaError) -> [String] {
        if case .string(let name)? = remaining[key] {
            remaining[key] = nil
            return [name]
        }
        return try strings(key) ?? []
    }

    mutating func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ key: String, _ type: Choice.Type
    ) throws(SchemaError) -> Choice? {
        guard let text = try string(key) else { return nil }
        guard let choice = Choice(rawValue: text) else { throw unknown(text, for: key, of: Choice.self) }
        return choice
    }

    mutating func accessors(_ key: String) throws(SchemaError) -> Set<Accessor>? {
        guard let value = take(key) else { return nil }
        guard case .array(let elements) = value else { throw error("\"\(key)\" must be a list such as [\"member\"]") }
        var accessors: Set<Accessor> = []
        for element in elements {
            guard case .string(let text) = element, let accessor = Accessor(rawValue: text) else {
                throw unknown(element.json, for: key, of: Accessor.self)
            }
            accessors.insert(accessor)
        }
        return accessors
    }

    func end() throws(SchemaError) {
        if let unknown = remaining.entries.first { throw error("unknown key \"\(unknown.name)\"") }
    }

    private func unknown<Choice: RawRepresentable<String> & CaseIterable>(
        _ text: String, for key: String, of type: Choice.Type
    ) -> SchemaError {
        let choices = Choice.allCases.map(\.rawValue).joined(separator: ", ")
        return error("\"\(key)\" cannot be \(text); it must be one of \(choices)")
    }
}
