/// Reads a pattern; refuses by name what it does not support.
struct PatternParser {
    private let scalars: [Unicode.Scalar]
    private var index = 0
    private var depth = 0

    static func parse(_ source: String) throws(PatternError) -> PatternNode {
        guard source.unicodeScalars.count <= PatternLimits.lengthMax else {
            throw PatternError("is longer than \(PatternLimits.lengthMax) characters")
        }
        var parser = PatternParser(scalars: Array(source.unicodeScalars))
        let node = try parser.choice()
        // Only a parenthesis ends a choice early.
        if parser.peek != nil { throw parser.error("a ) without its (; write \\) for the character") }
        return node
    }

    private init(scalars: [Unicode.Scalar]) { self.scalars = scalars }

    private var peek: Unicode.Scalar? { index < scalars.count ? scalars[index] : nil }

    private mutating func take() -> Unicode.Scalar? {
        defer { index += 1 }
        return peek
    }

    private mutating func takes(_ scalar: Unicode.Scalar) -> Bool {
        guard peek == scalar else { return false }
        index += 1
        return true
    }

    /// - Parameter index: the index of the character that is refused; the next one by default.
    private func error(at index: Int? = nil, _ reason: String) -> PatternError {
        PatternError(at: min(index ?? self.index, scalars.count) + 1, reason)
    }

    private mutating func choice() throws(PatternError) -> PatternNode {
        var parts = [try sequence()]
        while takes("|") { parts.append(try sequence()) }
        return parts.count == 1 ? parts[0] : .choice(parts)
    }

    private mutating func sequence() throws(PatternError) -> PatternNode {
        var parts: [PatternNode] = []
        while let scalar = peek, scalar != "|", scalar != ")" {
            let atom = try atom()
            parts.append(try repeated(atom))
        }
        return .sequence(parts)
    }

    private mutating func atom() throws(PatternError) -> PatternNode {
        let start = index
        guard let scalar = take() else { return .sequence([]) }
        switch scalar {
        case ".": return .one(ScalarSet.lineEnds.complement)
        case "^": return .start
        case "$": return .end
        case "[": return .one(try characterClass())
        case "(": return try group()
        case "\\": return .one(try escape())
        case "*", "+", "?":
            throw error(
                at: start, "nothing to repeat before \(scalar); write \\\(scalar) for the character")
        case "{", "}", "]":
            throw error(at: start, "write \\\(scalar) for the character")
        default: return .one(ScalarSet(scalar))
        }
    }

    private mutating func group() throws(PatternError) -> PatternNode {
        if takes("?"), !takes(":") {
            throw error(
                "groups are ( ) and (?: ): looking ahead or behind, names and flags are not supported, since they"
                    + " cannot be matched in linear time or change nothing here")
        }
        depth += 1
        guard depth <= PatternLimits.depthMax else {
            throw error("groups are nested deeper than \(PatternLimits.depthMax)")
        }
        let node = try choice()
        guard takes(")") else { throw error("a ( without its )") }
        depth -= 1
        return node
    }

    // MARK: Repetitions

    private mutating func repeated(_ atom: PatternNode) throws(PatternError) -> PatternNode {
        let bounds: (min: Int, max: Int?)
        switch peek {
        case "*": bounds = (0, nil)
        case "+": bounds = (1, nil)
        case "?": bounds = (0, 1)
        case "{":
            index += 1
            bounds = try counts()
        default: return atom
        }
        if atom == .start || atom == .end { throw error("^ and $ cannot be repeated") }
        index += 1
        switch peek {
        case "?":
            throw error("a match has no length here, so lazy repetitions do not exist: remove the ?")
        case "*", "+", "{": throw error("a repetition cannot be repeated; write ( ) around it")
        default: return .repeated(atom, min: bounds.min, max: bounds.max)
        }
    }

    /// Reads `n}`, `n,}` or `n,m}`, except for the brace.
    private mutating func counts() throws(PatternError) -> (min: Int, max: Int?) {
        guard let min = try count() else { throw error("write {n}, {n,} or {n,m}, or \\{ for the character") }
        var max: Int? = min
        if takes(",") { max = try count() }
        guard peek == "}" else { throw error("write {n}, {n,} or {n,m}, or \\{ for the character") }
        if let max, max < min { throw error("{\(min),\(max)}: the first number is the larger one") }
        return (min, max)
    }

    private mutating func count() throws(PatternError) -> Int? {
        var count: Int?
        while let digit = peek, ("0"..."9").contains(digit) {
            let longer = 10 * (count ?? 0) + Int(digit.value - 48)
            guard longer <= PatternLimits.repetitionMax else {
                throw error("a repetition is counted up to \(PatternLimits.repetitionMax)")
            }
            count = longer
            index += 1
        }
        return count
    }

    // MARK: Characters

    private mutating func characterClass() throws(PatternError) -> ScalarSet {
        let isNegated = takes("^")
        var ranges: [ClosedRange<UInt32>] = []
        while !takes("]") {
            let set = try member()
            guard peek == "-", index + 1 < scalars.count, scalars[index + 1] != "]" else {
                ranges += set.ranges
                continue
            }
            index += 1
            let end = try member()
            guard let first = set.only, let last = end.only else { throw error("a range lies between two characters") }
            guard first <= last else { throw error("a range whose end comes before its beginning") }
            ranges.append(first...last)
        }
        guard !ranges.isEmpty else { throw error("a class without characters; write \\] for the character") }
        let set = ScalarSet(ranges)
        return isNegated ? set.complement : set
    }

    private mutating func member() throws(PatternError) -> ScalarSet {
        guard let scalar = take() else { throw error("a [ without its ]") }
        return scalar == "\\" ? try escape() : ScalarSet(scalar)
    }

    private mutating func escape() throws(PatternError) -> ScalarSet {
        let start = index - 1
        guard let scalar = take() else { throw error(at: start, "a \\ at the end; write \\\\ for the character") }
        switch scalar {
        case "d": return .digits
        case "D": return ScalarSet.digits.complement
        case "w": return .word
        case "W": return ScalarSet.word.complement
        case "s": return .space
        case "S": return ScalarSet.space.complement
        case "t": return ScalarSet("\t")
        case "n": return ScalarSet("\n")
        case "r": return ScalarSet("\r")
        case "f": return ScalarSet("\u{c}")
        case "v": return ScalarSet("\u{b}")
        case "x": return try hexadecimal(digits: 2)
        case "u": return takes("{") ? try hexadecimal(digits: nil) : try hexadecimal(digits: 4)
        case "b", "B": throw error(at: start, "word boundaries (\\\(scalar)) are not supported")
        case "p", "P":
            throw error(
                at: start,
                "Unicode properties (\\\(scalar)) are not supported, since their tables differ between systems; list"
                    + " ranges such as [A-Za-zÀ-ɏ]")
        case "0"..."9":
            throw error(
                at: start, "back references (\\\(scalar)) are not supported: they cannot be matched in linear time")
        case "A"..."Z", "a"..."z": throw error(at: start, "\\\(scalar) is not supported")
        case _ where scalar.isASCII && scalar.value > 32: return ScalarSet(scalar)
        default: throw error(at: start, "only ASCII punctuation is escaped")
        }
    }

    /// - Parameter digits: the number of digits; `nil` for as many as there are before a brace.
    private mutating func hexadecimal(digits: Int?) throws(PatternError) -> ScalarSet {
        var value: UInt32 = 0
        var count = 0
        while count < digits ?? 6, let scalar = peek, let digit = Character(scalar).hexDigitValue, scalar.isASCII {
            value = 16 * value + UInt32(digit)
            count += 1
            index += 1
        }
        let isWhole = digits.map { count == $0 } ?? (count > 0 && takes("}"))
        guard isWhole, let scalar = Unicode.Scalar(value) else {
            throw error("write \\xHH, \\uHHHH or \\u{H…} with the hexadecimal number of a character")
        }
        return ScalarSet(scalar)
    }
}

extension ScalarSet {
    /// The scalar of a set with exactly one.
    fileprivate var only: UInt32? {
        guard ranges.count == 1, ranges[0].count == 1 else { return nil }
        return ranges[0].lowerBound
    }
}
