import Foundation
package import TidemarkModel

/// Encodes a Swift value as a field value.
package struct FieldEncoder: Encoder {
    private let slot: Slot
    /// The path of the value inside the encoded one.
    package let codingPath: [any CodingKey]
    /// An empty dictionary: see `Encoder`.
    package var userInfo: [CodingUserInfoKey: Any] { [:] }

    /// Returns the field value: a plain one, or an object for a struct.
    ///
    /// - Throws: `EncodingError` for a value that no field can hold.
    package static func encode(_ value: some Encodable) throws -> FieldValue {
        let slot = Slot()
        try FieldEncoder(slot: slot, codingPath: []).encode(value)
        return slot.value
    }

    fileprivate init(slot: Slot, codingPath: [any CodingKey]) {
        self.slot = slot
        self.codingPath = codingPath
    }

    /// Begins an object: see `Encoder`.
    package func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        slot.becomeObject()
        return KeyedEncodingContainer(FieldEncodingMembers(slot: slot, codingPath: codingPath))
    }

    /// Begins an array: see `Encoder`.
    package func unkeyedContainer() -> any UnkeyedEncodingContainer {
        slot.becomeArray()
        return FieldEncodingElements(slot: slot, codingPath: codingPath)
    }

    /// Begins a plain value: see `Encoder`.
    package func singleValueContainer() -> any SingleValueEncodingContainer { self }
}

extension FieldEncoder: SingleValueEncodingContainer {
    package func encodeNil() throws { slot.become(.null) }

    package func encode<Value: Encodable>(_ value: Value) throws {
        guard let convertible = value as? any FieldConvertible else { return try value.encode(to: self) }
        slot.become(try convertible.encoded(at: codingPath))
    }
}

extension FieldConvertible {
    /// - Throws: `EncodingError` with the path of a value that no field can hold.
    fileprivate func encoded(at path: [any CodingKey], _ key: any CodingKey...) throws -> FieldValue {
        guard let fieldValue else {
            throw EncodingError.invalidValue(
                self, .init(codingPath: path + key, debugDescription: "no field can hold \(self)"))
        }
        return fieldValue
    }
}

/// A value that is being built; containers of one value share it.
private final class Slot {
    private enum Content {
        case value(FieldValue)
        case object
        case array
    }

    private var content = Content.object
    /// The members of an object or array, in the order of encoding; elements have no name.
    private var entries: [Fields.Entry] = []
    /// The entries whose values are being built.
    private var unfinished: [(index: Int, slot: Slot)] = []

    /// Enough for the properties of most models.
    private static let capacity = 8

    var value: FieldValue {
        var entries = entries
        for (index, slot) in unfinished { entries[index].value = slot.value }
        switch content {
        case .value(let value): return value
        case .array: return .array(entries.map(\.value))
        case .object:
            // Of equal names, the last value is used.
            return .object(Fields(unsorted: entries) ?? entries.reduce(into: Fields()) { $0[$1.name] = $1.value })
        }
    }

    var count: Int { if case .array = content { entries.count } else { 0 } }

    func become(_ value: FieldValue) { content = .value(value) }

    func becomeObject() {
        if case .object = content { return }
        (content, entries, unfinished) = (.object, [], [])
    }

    func becomeArray() {
        if case .array = content { return }
        (content, entries, unfinished) = (.array, [], [])
    }

    func set(_ name: String, to value: FieldValue) {
        guard case .object = content else { return }
        if entries.isEmpty { entries.reserveCapacity(Self.capacity) }
        entries.append(Fields.Entry(name: name, value: value))
    }

    func member(_ name: String) -> Slot {
        if case .object = content { begin(name) } else { Slot() }
    }

    func element() -> Slot {
        if case .array = content { begin("") } else { Slot() }
    }

    private func begin(_ name: String) -> Slot {
        let slot = Slot()
        unfinished.append((entries.count, slot))
        entries.append(Fields.Entry(name: name, value: .null))
        return slot
    }
}

private struct FieldEncodingMembers<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let slot: Slot
    let codingPath: [any CodingKey]

    func encodeNil(forKey key: Key) throws { slot.set(key.stringValue, to: .null) }

    // The types of most properties need no search for a conformance.
    func encode(_ value: String, forKey key: Key) throws { slot.set(key.stringValue, to: .string(value)) }
    func encode(_ value: Bool, forKey key: Key) throws { slot.set(key.stringValue, to: .boolean(value)) }
    func encode(_ value: Int64, forKey key: Key) throws { slot.set(key.stringValue, to: .integer(value)) }
    func encode(_ value: Int, forKey key: Key) throws { slot.set(key.stringValue, to: .integer(Int64(value))) }

    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        if Value.self == UUID.self, let id = value as? UUID { return slot.set(key.stringValue, to: .id(id)) }
        guard let convertible = value as? any FieldConvertible else { return try value.encode(to: encoder(key)) }
        slot.set(key.stringValue, to: try convertible.encoded(at: codingPath, key))
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> { encoder(key).container(keyedBy: type) }
    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { encoder(key).unkeyedContainer() }
    func superEncoder() -> any Encoder { FieldEncoder(slot: slot, codingPath: codingPath) }
    func superEncoder(forKey key: Key) -> any Encoder { encoder(key) }

    private func encoder(_ key: Key) -> FieldEncoder {
        FieldEncoder(slot: slot.member(key.stringValue), codingPath: codingPath + [key])
    }
}

private struct FieldEncodingElements: UnkeyedEncodingContainer {
    let slot: Slot
    let codingPath: [any CodingKey]

    var count: Int { slot.count }

    func encodeNil() throws { try encoder().encodeNil() }
    func encode<Value: Encodable>(_ value: Value) throws { try encoder().encode(value) }
    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        encoder().container(keyedBy: type)
    }
    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { encoder().unkeyedContainer() }
    func superEncoder() -> any Encoder { encoder() }

    private func encoder() -> FieldEncoder { FieldEncoder(slot: slot.element(), codingPath: codingPath) }
}
