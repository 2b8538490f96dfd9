import Foundation
import TidemarkModel

/// A model made of values that fit the schema and differ from field to field.
struct ModelSample<Model: SyncModel> {
    /// The requests of the model's decoding.
    final class Asked {
        fileprivate(set) var names: [String] = []
        /// The error of a property that cannot hold its field's values.
        fileprivate(set) var misfit: String?
        /// The reason why the model can never hold any record that the schema allows.
        fileprivate(set) var impossible: StoreError?
        /// True while an optional property is decoded.
        fileprivate var isOptional = false
        /// The property that was last asked for `nil`: the standard library does so for an optional text, number or
        /// flag before it asks for the value.
        fileprivate var maybeAbsent: String?
    }

    let asked = Asked()
    private let collection: CollectionSchema
    private let turn: Int
    /// True when only fields of the schema have values.
    private let isStrict: Bool

    init(_ collection: CollectionSchema, _ turn: Int, isStrict: Bool = false) {
        self.collection = collection
        self.turn = turn
        self.isStrict = isStrict
    }

    /// Returns the model; `nil` when none can be made.
    func make() -> Model? {
        // Errors have been noted; a value that cannot be made up is not a mistake.
        try? Model(from: SampleDecoder(source: self, name: nil))
    }

    /// - Parameter name: the field of the value, or of the value that contains it.
    fileprivate func value<Value: Decodable>(_ type: Value.Type, of name: String, isNested: Bool) throws -> Value {
        if !isNested { checkDefault(type, name) }
        let sample = isNested ? nil : fieldValue(name)
        if let convertible = type as? any FieldConvertible.Type {
            let candidates = sample.map { [$0] } ?? parts
            if let value = candidates.lazy.compactMap({ convertible.from($0) as? Value }).first { return value }
            if !isNested, let field = fieldType(name) {
                let misfit = "\(Model.self).\(name): is \(type), and the field is \(field.rawValue)"
                if asked.misfit == nil { asked.misfit = misfit }
                if texts(of: field).allSatisfy({ convertible.from($0) == nil }) {
                    rule(StoreError(.coding, misfit), of: name)
                }
            }
            throw none(name)
        }
        // If it succeeds, the value is always the same; the errors add nothing.
        if let sample, let value = try? FieldDecoder.decode(type, from: sample) { return value }
        if let cases = (type as? any CaseIterable.Type).flatMap({ Array($0.allCases) as? [Value] }), !cases.isEmpty {
            return cases[(number(name) + turn) % cases.count]
        }
        let allowed = isNested ? [] : allowed(name)
        // A value of the schema that the type does not have is not a sample.
        if let value = allowed.lazy.compactMap({ try? FieldDecoder.decode(type, from: $0) }).first { return value }
        // A default that cannot be decoded is not a sample.
        if !isNested, let known = Model.defaults[name], let value = try? FieldDecoder.decode(type, from: known) {
            return value
        }
        return try Value(from: SampleDecoder(source: self, name: name))
    }

    /// Checks that the property can hold the schema's default, and each value of its `enum`.
    private func checkDefault<Value: Decodable>(_ type: Value.Type, _ name: String) {
        if let value = collection.defaults[name] { check(type, name, reads: value, "default") }
        for value in allowed(name) { check(type, name, reads: value, "enum value") }
    }

    private func check<Value: Decodable>(
        _ type: Value.Type, _ name: String, reads value: FieldValue, _ kind: String
    ) {
        guard asked.misfit == nil else { return }
        do {
            _ = try FieldDecoder.decode(type, from: value)
        } catch {
            asked.misfit = "\(Model.self).\(name): is \(type), which does not read the schema's \(kind) \(value.json)"
        }
    }

    /// Returns the values that the schema's `enum` lists.
    private func allowed(_ name: String) -> [FieldValue] {
        collection.field(collection.fieldName(name))?.constraint?.value.allowed ?? []
    }

    fileprivate func note(_ name: String) { if !asked.names.contains(name) { asked.names.append(name) } }

    /// - Throws: an error for a name that the schema does not have, in a strict sample.
    fileprivate func require(_ name: String) throws {
        guard isStrict, fieldType(name) == nil, Model.defaults[name] == nil else { return }
        let reason = "\(Model.self): reads \(name), and \(collection.name) has no such field in the schema"
        rule(StoreError(.unknownName, reason), of: name)
        throw none(name)
    }

    /// Notes an error that excludes every record, unless the property can do without the field's value.
    private func rule(_ error: StoreError, of name: String) {
        guard asked.impossible == nil, !asked.isOptional, asked.maybeAbsent != name, Model.defaults[name] == nil else {
            return
        }
        asked.impossible = error
    }

    /// Returns further values of the field's type: texts of all kinds.
    private func texts(of type: FieldType) -> [FieldValue] {
        guard type == .string else { return [] }
        return [
            "0", "true", "2000-01-01T00:00:00Z", "https://a.example", "en", UniqueID(high: 0, low: 1).description,
            String(repeating: "0", count: 64),
        ].map { .string($0) }
    }

    private func none(_ name: String) -> DecodingError {
        DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "\(name): no value can be made up"))
    }

    private func fieldType(_ name: String) -> FieldType? {
        collection.field(collection.fieldName(name))?.type ?? EnvelopeColumn(rawValue: name)?.type
    }

    /// Returns a number that differs for each requested name.
    private func number(_ name: String) -> Int { (asked.names.firstIndex(of: name) ?? 0) + 1 }

    private func fieldValue(_ name: String) -> FieldValue? {
        let number = number(name)
        let id = UniqueID(high: 0, low: UInt64(number))
        if collection.field(name) == nil, name == EnvelopeColumn.syncState.rawValue {
            return .string(RecordState.synced.rawValue)
        }
        switch fieldType(name) {
        case .string: return .string("\(number)")
        case .integer, .timestamp: return .integer(Int64(number))
        case .double: return .double(Double(number) + 0.5)
        case .boolean: return .boolean((number >> (turn % 8)) & 1 == 1)
        case .reference: return .string(id.description)
        case .set: return .array([.string("\(number)")])
        case .blob: return .string(String(repeating: "0", count: 60) + String(1_000 + number))
        case .map, .json, nil: return nil
        }
    }

    /// The candidates for values that are nested in a value.
    private var parts: [FieldValue] {
        [.string("a"), .integer(1), .double(0.5), .boolean(true), .string(UniqueID(high: 0, low: 1).description)]
    }
}

/// Supplies the values of a sample; nested in a field, any value that fits.
private struct SampleDecoder<Model: SyncModel>: Decoder, SingleValueDecodingContainer {
    let source: ModelSample<Model>
    /// The field's name; `nil` for the record itself.
    let name: String?
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(SampleMembers(decoder: self))
    }
    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { SampleElements() }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }
    func decodeNil() -> Bool { false }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        // For an enumeration or a wrapped value, which is the field itself.
        try source.value(type, of: name ?? "", isNested: name == nil)
    }
}

private struct SampleMembers<Model: SyncModel, Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: SampleDecoder<Model>
    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { [] }

    func contains(_ key: Key) -> Bool { true }
    func decodeNil(forKey key: Key) throws -> Bool {
        decoder.source.asked.maybeAbsent = key.stringValue
        return false
    }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        if let name = decoder.name { return try decoder.source.value(type, of: name, isNested: true) }
        decoder.source.note(key.stringValue)
        try decoder.source.require(key.stringValue)
        return try decoder.source.value(type, of: key.stringValue, isNested: false)
    }

    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        let wasOptional = decoder.source.asked.isOptional
        decoder.source.asked.isOptional = true
        defer { decoder.source.asked.isOptional = wasOptional }
        // A value that cannot be made up may be absent.
        return try? decode(type, forKey: key)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        KeyedDecodingContainer(SampleMembers<Model, Nested>(decoder: nested(key)))
    }
    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer { SampleElements() }
    func superDecoder() throws -> any Decoder { decoder }
    func superDecoder(forKey key: Key) throws -> any Decoder { nested(key) }

    private func nested(_ key: Key) -> SampleDecoder<Model> {
        if decoder.name == nil { decoder.source.note(key.stringValue) }
        return SampleDecoder(source: decoder.source, name: decoder.name ?? key.stringValue)
    }
}

/// An empty list of elements: every array may be empty.
private struct SampleElements: UnkeyedDecodingContainer {
    var codingPath: [any CodingKey] { [] }
    var count: Int? { 0 }
    var isAtEnd: Bool { true }
    var currentIndex: Int { 0 }

    mutating func decodeNil() throws -> Bool { throw ended }
    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { throw ended }
    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> { throw ended }
    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { throw ended }
    mutating func superDecoder() throws -> any Decoder { throw ended }

    private var ended: DecodingError {
        DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "the array is empty"))
    }
}
