import Foundation
import TidemarkModel

/// Decodes a value from the current row of a query: a model without an `init(reading:)` of its own, or an app's type
/// from a row of its own SQL.
struct ColumnDecoder<Source: ColumnSource>: Decoder {
    let source: Source
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(ColumnDecodingMembers(source: source))
    }
    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { try whole.unkeyedContainer() }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { try whole.singleValueContainer() }

    fileprivate var whole: FieldDecoder {
        get throws {
            let fields = FieldValue.object(try source.fields())
            return FieldDecoder(value: fields, source: Source.valueSource == .column ? .row : .field)
        }
    }
}

/// The columns of a row, by coding keys.
private struct ColumnDecodingMembers<Key: CodingKey, Source: ColumnSource>: KeyedDecodingContainerProtocol {
    let source: Source
    var codingPath: [any CodingKey] { [] }

    // A value that cannot be read is reported when it is decoded, and by the source in any case.
    var allKeys: [Key] { ((try? source.fields()) ?? Fields()).entries.compactMap { Key(stringValue: $0.name) } }
    func contains(_ key: Key) -> Bool { (try? source.value(index(of: key))).flatMap { $0 } != nil }
    func decodeNil(forKey key: Key) throws -> Bool { try decoder(key).decodeNil() }

    func decode(_ type: String.Type, forKey key: Key) throws -> String { try source.required(index(of: key)) }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try source.required(index(of: key)) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try source.required(index(of: key)) }
    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try source.required(index(of: key)) }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try source.required(index(of: key)) }
    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        if type == UUID.self { return try same(try source.required(index(of: key)) as UUID) }
        if type == Date.self { return try same(try source.required(index(of: key)) as Date) }
        if type == Set<String>.self { return try same(try source.required(index(of: key)) as Set<String>) }
        if type == RecordState.self { return try same(try source.required(index(of: key)) as RecordState) }
        return try source.requiredIndirectly(index(of: key))
    }

    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
        try source.optional(index(of: key))
    }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { try source.optional(index(of: key)) }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? { try source.optional(index(of: key)) }
    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? { try source.optional(index(of: key)) }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
        try source.optional(index(of: key))
    }
    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        if type == UUID.self { return try (source.optional(index(of: key)) as UUID?).map { try same($0) } }
        if type == Date.self { return try (source.optional(index(of: key)) as Date?).map { try same($0) } }
        if type == Set<String>.self {
            return try (source.optional(index(of: key)) as Set<String>?).map { try same($0) }
        }
        if type == RecordState.self {
            return try (source.optional(index(of: key)) as RecordState?).map { try same($0) }
        }
        return try source.optionalIndirectly(index(of: key))
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> { try decoder(key).container(keyedBy: type) }
    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try decoder(key).unkeyedContainer()
    }
    func superDecoder() throws -> any Decoder { try ColumnDecoder(source: source).whole }
    func superDecoder(forKey key: Key) throws -> any Decoder { try decoder(key) }

    private func index(of key: Key) throws -> Int { try source.index(of: key.stringValue) }

    private func decoder(_ key: Key) throws -> FieldDecoder {
        guard let value = try source.value(index(of: key)) else {
            throw DecodingError.keyNotFound(key, .init(codingPath: [], debugDescription: "the field is not set"))
        }
        return FieldDecoder(value: value, key: key, source: Source.valueSource)
    }

    /// Returns a value as its own type under another name; a cast would look that up each time.
    private func same<Value, Same>(_ value: Value) throws -> Same {
        guard Value.self == Same.self else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: [], debugDescription: "\(Value.self) is no \(Same.self)"))
        }
        return withUnsafePointer(to: value) { $0.withMemoryRebound(to: Same.self, capacity: 1) { $0.pointee } }
    }
}
