/// Builds JSON bytes from front to back; callers that know a shape write its punctuation themselves.
///
///     var writer = JSONWriter()
///     writer.integer("{\"t\":\"ack\",\"frames\":", 7)
///     return writer.ended()
package struct JSONWriter: Sendable {
    /// The bytes written so far.
    package private(set) var bytes: [UInt8] = []

    package init(capacity: Int = 128) { bytes.reserveCapacity(capacity) }

    /// Writes a literal of the program, unescaped.
    package mutating func literal(_ text: StaticString) {
        bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Writes one byte of punctuation.
    package mutating func byte(_ byte: UInt8) { bytes.append(byte) }

    /// Ends the object and returns all bytes.
    package consuming func ended() -> [UInt8] {
        byte(UInt8(ascii: "}"))
        return bytes
    }

    /// Writes the name of a member that is not the first.
    package mutating func member(_ name: String) {
        byte(UInt8(ascii: ","))
        string(name)
        byte(UInt8(ascii: ":"))
    }

    /// Appends bytes that are JSON already.
    package mutating func raw(_ json: [UInt8]) { bytes.append(contentsOf: json) }

    /// Writes a decimal number.
    package mutating func integer(_ value: Int64) {
        var magnitude = value.magnitude
        if value < 0 { bytes.append(UInt8(ascii: "-")) }
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
            var start = 20
            repeat {
                start -= 1
                digits[start] = UInt8(48 + magnitude % 10)
                magnitude /= 10
            } while magnitude > 0
            bytes.append(contentsOf: digits[start..<20])
        }
    }

    /// Writes a quoted string, escaping only what JSON requires.
    package mutating func string(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        var text = text
        text.withUTF8 { utf8 in
            if utf8.contains(where: { $0 < 0x20 || $0 == 0x22 || $0 == 0x5c }) {
                for byte in utf8 { escaped(byte) }
            } else {
                bytes.append(contentsOf: utf8)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// Writes an id in quotes.
    package mutating func id(_ id: UniqueID) {
        bytes.append(UInt8(ascii: "\""))
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 36) { text in
            UniqueID.write(high: id.high, low: id.low, into: text)
            bytes.append(contentsOf: text)
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// Writes any value in canonical form.
    package mutating func value(_ value: FieldValue) {
        switch value {
        case .null: literal("null")
        case .boolean(let value): if value { literal("true") } else { literal("false") }
        case .integer(let value): integer(value)
        case .double(let value): bytes.append(contentsOf: value.description.utf8)
        case .string(let value): string(value)
        case .array(let elements): array(elements) { $0.value($1) }
        case .object(let value): fields(value)
        }
    }

    /// Writes an object in canonical form.
    package mutating func fields(_ fields: Fields) {
        bytes.append(UInt8(ascii: "{"))
        var isFirst = true
        for entry in fields.entries {
            if isFirst { isFirst = false } else { bytes.append(UInt8(ascii: ",")) }
            string(entry.name)
            bytes.append(UInt8(ascii: ":"))
            value(entry.value)
        }
        bytes.append(UInt8(ascii: "}"))
    }

    /// Writes an array, each element by `element`.
    package mutating func array<Elements: Collection>(
        _ elements: Elements,
        _ element: (inout JSONWriter, Elements.Element) -> Void
    ) {
        bytes.append(UInt8(ascii: "["))
        var isFirst = true
        for each in elements {
            if isFirst { isFirst = false } else { bytes.append(UInt8(ascii: ",")) }
            element(&self, each)
        }
        bytes.append(UInt8(ascii: "]"))
    }

    // MARK: Values after a literal, such as a member's name

    /// Writes the literal, then the integer.
    package mutating func integer(_ text: StaticString, _ value: Int64) {
        literal(text)
        integer(value)
    }

    /// Writes the literal, then the string.
    package mutating func string(_ text: StaticString, _ value: String) {
        literal(text)
        string(value)
    }

    package mutating func id(_ text: StaticString, _ value: UniqueID) {
        literal(text)
        id(value)
    }

    package mutating func value(_ text: StaticString, _ value: FieldValue) {
        literal(text)
        self.value(value)
    }

    package mutating func fields(_ text: StaticString, _ value: Fields) {
        literal(text)
        fields(value)
    }

    /// Writes the literal, then the array.
    package mutating func array<Elements: Collection>(
        _ text: StaticString, _ elements: Elements, _ element: (inout JSONWriter, Elements.Element) -> Void
    ) {
        literal(text)
        array(elements, element)
    }

    private mutating func escaped(_ byte: UInt8) {
        switch byte {
        case 0x22: literal("\\\"")
        case 0x5c: literal("\\\\")
        case 0x0a: literal("\\n")
        case 0x0d: literal("\\r")
        case 0x09: literal("\\t")
        case 0..<0x20:
            literal("\\u00")
            let digits: StaticString = "0123456789abcdef"
            bytes.append(digits.utf8Start[Int(byte >> 4)])
            bytes.append(digits.utf8Start[Int(byte & 15)])
        default: bytes.append(byte)
        }
    }
}
