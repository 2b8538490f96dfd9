/// One word of a rule's text.
struct RuleToken {
    enum Kind: Equatable {
        /// The absolute value of a whole number; a minus is a symbol.
        case integer(UInt64)
        case double(Double)
        case string(String)
        case name(String)
        case symbol(String)
        case end
    }

    let kind: Kind
    let position: RulePosition
}

/// Cuts a rule's text into words, by the lexis of CEL.
struct RuleLexer {
    private let bytes: [UInt8]
    private var offset = 0
    private var position = RulePosition()

    init(_ text: String) throws(RuleError) {
        bytes = Array(text.utf8)
        guard bytes.count <= RuleLimits.textMax else {
            throw RuleError(
                position, "the rule has \(bytes.count) bytes; the limit is \(RuleLimits.textMax): divide it into two")
        }
    }

    mutating func next() throws(RuleError) -> RuleToken {
        skipSpace()
        let start = position
        guard let byte = peek() else { return RuleToken(kind: .end, position: start) }
        if Self.isDigit(byte) || (byte == UInt8(ascii: ".") && peek(1).map(Self.isDigit) == true) {
            return RuleToken(kind: try number(), position: start)
        }
        if byte == UInt8(ascii: "'") || byte == UInt8(ascii: "\"") {
            return RuleToken(kind: .string(try string(isRaw: false)), position: start)
        }
        if Self.isLetter(byte) { return RuleToken(kind: try word(from: start), position: start) }
        for symbol in ["&&", "||", "==", "!=", "<=", ">="] where has(symbol) {
            advance(2)
            return RuleToken(kind: .symbol(symbol), position: start)
        }
        guard "()[]{}.,:?<>+-*/%!".utf8.contains(byte) else {
            throw RuleError(start, "\(Self.quoted(byte)) has no meaning here")
        }
        advance(1)
        return RuleToken(kind: .symbol(String(decoding: [byte], as: UTF8.self)), position: start)
    }

    private mutating func skipSpace() {
        while let byte = peek() {
            if has("//") {
                while let next = peek(), next != 0x0a { advance(1) }
            } else if [0x20, 0x09, 0x0a, 0x0c, 0x0d].contains(byte) {
                advance(1)
            } else {
                return
            }
        }
    }

    /// Reads a name, or a literal with a prefix.
    private mutating func word(from start: RulePosition) throws(RuleError) -> RuleToken.Kind {
        let begin = offset
        while let byte = peek(), Self.isLetter(byte) || Self.isDigit(byte) { advance(1) }
        let name = String(decoding: bytes[begin..<offset], as: UTF8.self)
        guard let next = peek(), next == UInt8(ascii: "'") || next == UInt8(ascii: "\"") else { return .name(name) }
        switch name {
        case "r", "R": return .string(try string(isRaw: true))
        case "b", "B", "br", "rb", "BR", "RB", "bR", "Rb", "Br", "rB":
            throw RuleError(start, "bytes are not supported: fields hold text")
        default: throw RuleError(start, "an operator is missing between \(name) and the text after it")
        }
    }

    private mutating func number() throws(RuleError) -> RuleToken.Kind {
        let start = position
        let begin = offset
        if has("0x") || has("0X") {
            advance(2)
            while let byte = peek(), Self.hexadecimal(byte) != nil { advance(1) }
            guard let value = UInt64(String(decoding: bytes[(begin + 2)..<offset], as: UTF8.self), radix: 16) else {
                throw RuleError(start, "is not a whole number of 64 bits")
            }
            try endNumber(start)
            return .integer(value)
        }
        skipDigits()
        var isDouble = false
        if peek() == UInt8(ascii: "."), peek(1).map(Self.isDigit) == true {
            isDouble = true
            advance(1)
            skipDigits()
        }
        if let byte = peek(), byte | 0x20 == UInt8(ascii: "e") {
            let isSigned = peek(1) == UInt8(ascii: "+") || peek(1) == UInt8(ascii: "-")
            guard peek(isSigned ? 2 : 1).map(Self.isDigit) == true else {
                throw RuleError(position, "an exponent has digits, such as 1e3")
            }
            isDouble = true
            advance(isSigned ? 2 : 1)
            skipDigits()
        }
        let text = String(decoding: bytes[begin..<offset], as: UTF8.self)
        try endNumber(start)
        if isDouble {
            guard let value = Double(text), value.isFinite else { throw RuleError(start, "the number is too large") }
            return .double(value)
        }
        guard let value = UInt64(text) else { throw RuleError(start, "is not a whole number of 64 bits") }
        return .integer(value)
    }

    /// Refuses a letter after a number.
    private func endNumber(_ start: RulePosition) throws(RuleError) {
        guard let byte = peek(), Self.isLetter(byte) else { return }
        if byte | 0x20 == UInt8(ascii: "u") {
            throw RuleError(start, "unsigned numbers are not supported: leave out the u")
        }
        throw RuleError(position, "a letter cannot follow a number")
    }

    private mutating func skipDigits() {
        while let byte = peek(), Self.isDigit(byte) { advance(1) }
    }
}

extension RuleLexer {
    /// Reads a text in single, double or triple quotes.
    private mutating func string(isRaw: Bool) throws(RuleError) -> String {
        let start = position
        let quote = bytes[offset]
        let isTriple = peek(1) == quote && peek(2) == quote
        advance(isTriple ? 3 : 1)
        var text: [UInt8] = []
        while let byte = peek() {
            if byte == quote, !isTriple || (peek(1) == quote && peek(2) == quote) {
                advance(isTriple ? 3 : 1)
                return String(decoding: text, as: UTF8.self)
            }
            if byte == 0x0a || byte == 0x0d, !isTriple { break }
            if byte == UInt8(ascii: "\\"), !isRaw {
                text += Array(String(try escape()).utf8)
            } else {
                text.append(byte)
                advance(1)
            }
        }
        throw RuleError(start, "the text has no closing quote")
    }

    private mutating func escape() throws(RuleError) -> Character {
        let start = position
        let failure = RuleError(start, "the escape is unknown: write \\\\ for a backslash")
        advance(1)
        guard let byte = peek() else { throw failure }
        switch byte {
        case UInt8(ascii: "x"), UInt8(ascii: "X"): return try code(digits: 2, radix: 16, skipping: 1, failure)
        case UInt8(ascii: "u"): return try code(digits: 4, radix: 16, skipping: 1, failure)
        case UInt8(ascii: "U"): return try code(digits: 8, radix: 16, skipping: 1, failure)
        case UInt8(ascii: "0")...UInt8(ascii: "3"): return try code(digits: 3, radix: 8, skipping: 0, failure)
        default: break
        }
        let known: [UInt8: UInt8] = [
            UInt8(ascii: "a"): 7, UInt8(ascii: "b"): 8, UInt8(ascii: "f"): 12, UInt8(ascii: "n"): 10,
            UInt8(ascii: "r"): 13, UInt8(ascii: "t"): 9, UInt8(ascii: "v"): 11,
        ]
        guard let value = known[byte] ?? ("\\?\"'`".utf8.contains(byte) ? byte : nil) else { throw failure }
        advance(1)
        return Character(Unicode.Scalar(value))
    }

    /// Reads a code point of so many digits.
    private mutating func code(
        digits: Int, radix: Int, skipping: Int, _ failure: RuleError
    ) throws(RuleError) -> Character {
        advance(skipping)
        var value: UInt32 = 0
        for _ in 0..<digits {
            guard let digit = peek().flatMap(Self.hexadecimal), digit < radix else { throw failure }
            value = value << (radix == 16 ? 4 : 3) | UInt32(digit)
            advance(1)
        }
        guard let scalar = Unicode.Scalar(value) else {
            throw RuleError(failure.position, "the escape is no character of Unicode")
        }
        return Character(scalar)
    }

    private func peek(_ distance: Int = 0) -> UInt8? {
        offset + distance < bytes.count ? bytes[offset + distance] : nil
    }

    private func has(_ text: String) -> Bool { bytes[offset...].starts(with: text.utf8) }

    /// Consumes bytes; all of them exist.
    private mutating func advance(_ count: Int) {
        for _ in 0..<count {
            let byte = bytes[offset]
            offset += 1
            if byte == 0x0a {
                position.line += 1
                position.column = 1
            } else if byte & 0xc0 != 0x80 {
                position.column += 1
            }
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (48...57).contains(byte) }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (65...90).contains(byte) || (97...122).contains(byte) || byte == 95
    }

    private static func hexadecimal(_ byte: UInt8) -> Int? {
        switch byte {
        case 48...57: Int(byte) - 48
        case 65...70: Int(byte) - 55
        case 97...102: Int(byte) - 87
        default: nil
        }
    }

    private static func quoted(_ byte: UInt8) -> String {
        switch byte {
        case UInt8(ascii: "="): "= compares nothing, write ==: it"
        case UInt8(ascii: "&"): "& alone, write &&: it"
        case UInt8(ascii: "|"): "| alone, write ||: it"
        case 0x21..<0x7f: String(decoding: [byte], as: UTF8.self)
        default: "a character outside of quotes"
        }
    }
}
