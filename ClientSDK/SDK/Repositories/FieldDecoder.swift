import TidemarkModel

/// Decodes a Swift value from a field value.
struct FieldDecoder: Decoder {
    /// What the value was read from.
    enum Source {
        case field
        /// A row of a query: its members are columns.
        case row
        /// SQLite has no flags, and holds sets and objects as JSON text.
        case column
    }

    let value: FieldValue
    var codingPath: [any CodingKey] = []
    var source = Source.field
    /// Of a record, and not of what is nested in it.
    var absent: AbsentValues?
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

    /// The value, or what the text of a column says as JSON.
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

/// The members of an object. One generic function answers for every type that the protocol lists.
private struct FieldDecodingMembers<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let fields: Fields
    let codingPath: [any CodingKey]
    let absent: AbsentValues?
    let source: FieldDecoder.Source

    var allKeys: [Key] { fields.entries.compactMap { Key(stringValue: $0.name) } }
    func contains(_ key: Key) -> Bool { fields[key.stringValue] != nil }
    func decodeNil(forKey key: Key) throws -> Bool { try decoder(key).decodeNil() }
    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        if fields[key.stringValue] == nil, let value = absent?[key.stringValue] {
            return try FieldDecoder(value: value, codingPath: codingPath + [key]).decode(type)
        }
        return try decoder(key).decode(type)
    }
    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> { try decoder(key).container(keyedBy: type) }
    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try decoder(key).unkeyedContainer()
    }
    func superDecoder() throws -> any Decoder { FieldDecoder(value: .object(fields), codingPath: codingPath) }
    func superDecoder(forKey key: Key) throws -> any Decoder { try decoder(key) }

    private func decoder(_ key: Key) throws -> FieldDecoder {
        guard let value = fields[key.stringValue] else {
            throw DecodingError.keyNotFound(
                key, .init(codingPath: codingPath, debugDescription: "the field is not set"))
        }
        return FieldDecoder(value: value, codingPath: codingPath + [key], source: source)
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
        return FieldDecoder(value: elements[currentIndex], codingPath: codingPath)
    }
}
