import TidemarkModel

/// Decodes a Swift value from a field value.
struct FieldDecoder: Decoder {
    /// The origin of a value.
    enum Source {
        case field
        /// A row of a query, whose members are columns.
        case row
        /// A column. SQLite has no booleans, and stores sets and objects as JSON text.
        case column
    }

    let value: FieldValue
    /// The path of the container that holds the value.
    var path: [any CodingKey] = []
    /// The key of the value in that container.
    var key: (any CodingKey)?
    var source = Source.field
    /// The values for absent members; only for a record itself, not for nested values.
    var absent: AbsentValues?
    /// The full path. It is computed on demand, which is only for errors.
    var codingPath: [any CodingKey] { key.map { path + [$0] } ?? path }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    static func decode<Value: Decodable>(
        _ type: Value.Type, from value: FieldValue, absent: AbsentValues? = nil
    ) throws -> Value {
        try FieldDecoder(value: value, absent: absent).decode(type)
    }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        guard let convertible = type as? any FieldConvertible.Type else { return try type.init(from: self) }
        if source == .column, type == Bool.self, case .integer(let flag) = value, let flag = (flag != 0) as? Value {
            return flag
        }
        guard let decoded = convertible.from(value) as? Value else { throw mismatch("\(type)") }
        return decoded
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard case .object(let fields) = try parsed() else { throw mismatch("an object") }
        return KeyedDecodingContainer(
            FieldDecodingMembers(
                fields: fields, codingPath: codingPath, absent: absent, source: source == .row ? .column : .field))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard case .array(let elements) = try parsed() else { throw mismatch("an array") }
        return FieldDecodingElements(elements: elements, codingPath: codingPath)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

    /// Returns the value, or the JSON value of a column's text.
    private func parsed() throws -> FieldValue {
        guard source == .column, case .string(let text) = value else { return value }
        do {
            return try JSONReader.read(Array(text.utf8)) { try $0.value() }
        } catch let error as JSONError {
            throw DecodingError.dataCorrupted(.init(codingPath: codingPath, debugDescription: "\(error)"))
        }
    }

    private func mismatch(_ expected: String) -> DecodingError {
        DecodingError.dataCorrupted(
            .init(codingPath: codingPath, debugDescription: "expected \(expected), found \(value.kind)"))
    }
}

extension FieldDecoder: SingleValueDecodingContainer {
    func decodeNil() -> Bool { value == .null }
}

/// The members of an object. One generic function serves all types that the protocol lists.
private struct FieldDecodingMembers<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let fields: Fields
    let codingPath: [any CodingKey]
    let absent: AbsentValues?
    let source: FieldDecoder.Source

    var allKeys: [Key] { fields.entries.compactMap { Key(stringValue: $0.name) } }
    func contains(_ key: Key) -> Bool { fields[key.stringValue] != nil }
    func decodeNil(forKey key: Key) throws -> Bool { try value(key) == .null }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value { try member(type, key) }
    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        try memberIfPresent(type, key)
    }

    // Text, the type of most properties, needs no search for a conformance.

    func decode(_ type: String.Type, forKey key: Key) throws -> String {
        if case .string(let text)? = fields[key.stringValue] { text } else { try member(type, key) }
    }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
        if case .string(let text)? = fields[key.stringValue] { text } else { try memberIfPresent(type, key) }
    }

    private func member<Value: Decodable>(_ type: Value.Type, _ key: Key) throws -> Value {
        if let value = fields[key.stringValue] { return try decoder(value, key).decode(type) }
        guard let value = absent?[key.stringValue] else { throw notSet(key) }
        return try FieldDecoder(value: value, path: codingPath, key: key).decode(type)
    }

    private func memberIfPresent<Value: Decodable>(_ type: Value.Type, _ key: Key) throws -> Value? {
        guard let value = fields[key.stringValue], value != .null else { return nil }
        return try decoder(value, key).decode(type)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> { try decoder(value(key), key).container(keyedBy: type) }
    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try decoder(value(key), key).unkeyedContainer()
    }
    func superDecoder() throws -> any Decoder { FieldDecoder(value: .object(fields), path: codingPath) }
    func superDecoder(forKey key: Key) throws -> any Decoder { try decoder(value(key), key) }

    private func value(_ key: Key) throws -> FieldValue {
        guard let value = fields[key.stringValue] else { throw notSet(key) }
        return value
    }

    private func notSet(_ key: Key) -> DecodingError {
        .keyNotFound(key, .init(codingPath: codingPath, debugDescription: "the field is not set"))
    }

    private func decoder(_ value: FieldValue, _ key: Key) -> FieldDecoder {
        FieldDecoder(value: value, path: codingPath, key: key, source: source)
    }
}

/// The elements of an array, front to back.
private struct FieldDecodingElements: UnkeyedDecodingContainer {
    let elements: [FieldValue]
    let codingPath: [any CodingKey]
    private(set) var currentIndex = 0

    init(elements: [FieldValue], codingPath: [any CodingKey]) {
        self.elements = elements
        self.codingPath = codingPath
    }

    var count: Int? { elements.count }
    var isAtEnd: Bool { currentIndex >= elements.count }

    mutating func decodeNil() throws -> Bool {
        guard try peek().decodeNil() else { return false }
        currentIndex += 1
        return true
    }
    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try take().decode(type) }
    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> { try take().container(keyedBy: type) }
    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { try take().unkeyedContainer() }
    mutating func superDecoder() throws -> any Decoder { try take() }

    private mutating func take() throws -> FieldDecoder {
        let decoder = try peek()
        currentIndex += 1
        return decoder
    }

    private func peek() throws -> FieldDecoder {
        guard currentIndex < elements.count else {
            throw DecodingError.dataCorrupted(.init(codingPath: codingPath, debugDescription: "the array ended"))
        }
        return FieldDecoder(value: elements[currentIndex], path: codingPath)
    }
}
