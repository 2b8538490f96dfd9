package import TidemarkModel

/// Encodes a Swift value as a field value.
package struct FieldEncoder: Encoder {
    private let slot: Slot
    /// Where in the value it stands.
    package let codingPath: [any CodingKey]
    /// Nothing: see `Encoder`.
    package var userInfo: [CodingUserInfoKey: Any] { [:] }

    /// The value of a field, a string or an object for a struct.
    ///
    /// - Throws: `EncodingError` for what no field can hold.
    package static func encode(_ value: some Encodable) throws -> FieldValue {
        let slot = Slot()
        try FieldEncoder(slot: slot, codingPath: []).encode(value)
        return slot.value
    }

    fileprivate init(slot: Slot, codingPath: [any CodingKey]) {
        self.slot = slot
        self.codingPath = codingPath
    }

    /// An object: see `Encoder`.
    package func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        slot.becomeObject()
        return KeyedEncodingContainer(FieldEncodingMembers(slot: slot, codingPath: codingPath))
    }

    /// An array: see `Encoder`.
    package func unkeyedContainer() -> any UnkeyedEncodingContainer {
        slot.becomeArray()
        return FieldEncodingElements(slot: slot, codingPath: codingPath)
    }

    /// A plain value: see `Encoder`.
    package func singleValueContainer() -> any SingleValueEncodingContainer { self }
}

extension FieldEncoder: SingleValueEncodingContainer {
    package func encodeNil() throws { slot.become(.null) }

    package func encode<Value: Encodable>(_ value: Value) throws {
        guard let convertible = value as? any FieldConvertible else { return try value.encode(to: self) }
        guard let encoded = convertible.fieldValue else {
            throw EncodingError.invalidValue(
                value, .init(codingPath: codingPath, debugDescription: "no field can hold \(value)"))
        }
        slot.become(encoded)
    }
}

/// A value while it is being built: containers of one value share it.
private final class Slot {
    private enum Content {
        case value(FieldValue)
        case object([String: Slot])
        case array([Slot])
    }

    private var content = Content.object([:])

    var value: FieldValue {
        switch content {
        case .value(let value): return value
        case .array(let slots): return .array(slots.map(\.value))
        case .object(let slots):
            var fields = Fields()
            for (name, slot) in slots { fields[name] = slot.value }
            return .object(fields)
        }
    }

    var count: Int { if case .array(let slots) = content { slots.count } else { 0 } }

    func become(_ value: FieldValue) { content = .value(value) }

    func becomeObject() {
        if case .object = content { return }
        content = .object([:])
    }

    func becomeArray() {
        if case .array = content { return }
        content = .array([])
    }

    func member(_ name: String) -> Slot {
        guard case .object(var slots) = content else { return Slot() }
        let slot = Slot()
        slots[name] = slot
        content = .object(slots)
        return slot
    }

    func element() -> Slot {
        guard case .array(var slots) = content else { return Slot() }
        let slot = Slot()
        slots.append(slot)
        content = .array(slots)
        return slot
    }
}

private struct FieldEncodingMembers<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let slot: Slot
    let codingPath: [any CodingKey]

    func encodeNil(forKey key: Key) throws { try encoder(key).encodeNil() }
    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws { try encoder(key).encode(value) }
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
