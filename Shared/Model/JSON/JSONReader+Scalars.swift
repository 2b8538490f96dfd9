extension JSONReader {
    /// Reads a string: valid UTF-8, escapes resolved, unpaired surrogates and control characters refused.
    package mutating func string() throws(JSONError) -> String {
        try expect(UInt8(ascii: "\""))
        let start = position
        var allBits: UInt8 = 0
        while position < bytes.count {
            let byte = bytes[position]
            if byte == UInt8(ascii: "\"") {
                let slice = UnsafeBufferPointer(rebasing: bytes[start..<position])
                let text = allBits < 0x80 ? Self.text(ascii: slice) : try validated(slice)
                advance(by: 1)
                return text
            }
            if byte == UInt8(ascii: "\\") { return try escapedString(from: start) }
            guard byte >= 0x20 else { throw failure("control character in a string") }
            allBits |= byte
            advance(by: 1)
        }
        throw failure("unexpected end")
    }

    /// The UUID that stands here as a string without escapes; consumes nothing when it is anything else.
    package mutating func takePlainID() -> UniqueID? {
        guard peek() == UInt8(ascii: "\""), bytes.count - position >= 38, bytes[position + 37] == UInt8(ascii: "\""),
            let id = UniqueID(utf8: UnsafeBufferPointer(rebasing: bytes[position + 1..<position + 37]))
        else { return nil }
        advance(by: 38)
        return id
    }

    /// Reads a whole number that fits in 64 bits.
    package mutating func integer() throws(JSONError) -> Int64 {
        guard case .integer(let value) = try number() else { throw failure("not a whole number of 64 bits") }
        return value
    }

    /// Reads `true` or `false`.
    package mutating func boolean() throws(JSONError) -> Bool {
        switch peek() {
        case UInt8(ascii: "t"):
            try literal("true")
            return true
        case UInt8(ascii: "f"):
            try literal("false")
            return false
        default: throw failure("not a boolean")
        }
    }

    /// Reads a number by JSON's grammar: whole ones that fit become integers, all others finite doubles.
    mutating func number() throws(JSONError) -> FieldValue {
        _ = peek()
        let start = position
        let isWhole = try skipNumber()
        guard position - start <= limits.numberLengthMax else { throw failure("number too long") }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        if isWhole, let value = Int64(text) { return .integer(value) }
        guard let value = Double(text), value.isFinite else { throw failure("number out of range") }
        return .double(value)
    }

    /// Skips a number of any length, checking its grammar; true when it has neither fraction nor exponent.
    @discardableResult
    mutating func skipNumber() throws(JSONError) -> Bool {
        if byte(at: position) == UInt8(ascii: "-") { advance(by: 1) }
        guard let first = byte(at: position), isDigit(first) else { throw failure("unexpected byte") }
        if takeDigits() > 1, first == UInt8(ascii: "0") { throw failure("leading zero") }
        var isWhole = true
        if byte(at: position) == UInt8(ascii: ".") {
            isWhole = false
            advance(by: 1)
            guard takeDigits() > 0 else { throw failure("digits missing after the point") }
        }
        if let exponent = byte(at: position), exponent | 0x20 == UInt8(ascii: "e") {
            isWhole = false
            advance(by: 1)
            if let sign = byte(at: position), sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") { advance(by: 1) }
            guard takeDigits() > 0 else { throw failure("digits missing in the exponent") }
        }
        return isWhole
    }

    private func byte(at index: Int) -> UInt8? { index < bytes.count ? bytes[index] : nil }

    private func isDigit(_ byte: UInt8) -> Bool { byte &- 48 < 10 }

    @discardableResult
    private mutating func takeDigits() -> Int {
        let start = position
        while let next = byte(at: position), isDigit(next) { advance(by: 1) }
        return position - start
    }

    /// Most strings are ASCII, and the initializer that validates is generic: measured, this takes a sixth of its time
    /// for a key, half for a text of 100 bytes.
    private static func text(ascii slice: UnsafeBufferPointer<UInt8>) -> String {
        String(unsafeUninitializedCapacity: slice.count) { $0.initialize(from: slice).index }
    }

    private func validated(_ slice: UnsafeBufferPointer<UInt8>) throws(JSONError) -> String {
        guard let text = String(validating: slice, as: UTF8.self) else { throw failure("invalid UTF-8") }
        return text
    }

    private mutating func escapedString(from start: Int) throws(JSONError) -> String {
        var unescaped = Array(bytes[start..<position])
        while let byte = byte(at: position) {
            if byte == UInt8(ascii: "\"") {
                let text = try unescaped.withUnsafeBufferPointer { (slice) throws(JSONError) in try validated(slice) }
                advance(by: 1)
                return text
            }
            guard byte >= 0x20 else { throw failure("control character in a string") }
            advance(by: 1)
            if byte == UInt8(ascii: "\\") { try appendEscape(to: &unescaped) } else { unescaped.append(byte) }
        }
        throw failure("unexpected end")
    }

    private mutating func appendEscape(to unescaped: inout [UInt8]) throws(JSONError) {
        guard let kind = byte(at: position) else { throw failure("unexpected end") }
        advance(by: 1)
        switch kind {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): unescaped.append(kind)
        case UInt8(ascii: "b"): unescaped.append(0x08)
        case UInt8(ascii: "f"): unescaped.append(0x0c)
        case UInt8(ascii: "n"): unescaped.append(0x0a)
        case UInt8(ascii: "r"): unescaped.append(0x0d)
        case UInt8(ascii: "t"): unescaped.append(0x09)
        case UInt8(ascii: "u"):
            var scalar = UInt32(try hexadecimal())
            if (0xd800..<0xdc00).contains(scalar) {
                guard byte(at: position) == UInt8(ascii: "\\"), byte(at: position + 1) == UInt8(ascii: "u") else {
                    throw failure("unpaired surrogate")
                }
                advance(by: 2)
                let trail = UInt32(try hexadecimal())
                guard (0xdc00..<0xe000).contains(trail) else { throw failure("unpaired surrogate") }
                scalar = 0x10000 + (scalar - 0xd800) << 10 + (trail - 0xdc00)
            }
            guard let unicode = Unicode.Scalar(scalar) else { throw failure("unpaired surrogate") }
            unescaped.append(contentsOf: String(Character(unicode)).utf8)
        default: throw failure("unknown escape")
        }
    }

    private mutating func hexadecimal() throws(JSONError) -> UInt16 {
        var value: UInt16 = 0
        for _ in 0..<4 {
            guard let digit = byte(at: position).flatMap({ Character(Unicode.Scalar($0)).hexDigitValue }) else {
                throw failure("four hexadecimal digits expected")
            }
            value = value << 4 | UInt16(digit)
            advance(by: 1)
        }
        return value
    }
}
