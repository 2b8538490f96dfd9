/// The bounds that a schema sets to one value: a field's own, or an element of a set or a map (`"items"`).
package struct ValueConstraint: Hashable, Sendable {
    /// The only values; empty for any value.
    package var allowed: [FieldValue] = []
    package var minimum: FieldValue?
    package var maximum: FieldValue?
    /// The fewest and most characters of a text, as Unicode scalars: they are the same number on every system.
    package var minLength: Int?
    package var maxLength: Int?
    package var pattern: TextPattern?

    package init() {}

    /// True when every value passes.
    package var isEmpty: Bool { self == ValueConstraint() }

    /// Returns the reason against the value in plain words; `nil` if it passes. Bounds of another type than the value's
    /// do not concern it, as in JSON Schema.
    ///
    /// - Parameter work: increased by the steps of the pattern.
    package func refusal(of value: FieldValue, work: inout Int) -> String? {
        if !allowed.isEmpty, !allowed.contains(value) {
            return "must be one of \(Self.list(allowed)), not \(value.json.excerpt())"
        }
        switch value {
        case .integer, .double:
            if let minimum, value.isLess(than: minimum) == true {
                return "must be at least \(minimum.json), not \(value.json)"
            }
            if let maximum, maximum.isLess(than: value) == true {
                return "must be at most \(maximum.json), not \(value.json)"
            }
            return nil
        case .string(let text): return refusal(of: text, work: &work)
        case .null, .boolean, .array, .object: return nil
        }
    }

    private func refusal(of text: String, work: inout Int) -> String? {
        if minLength != nil || maxLength != nil {
            let length = text.unicodeScalars.count
            if let minLength, length < minLength { return "must have \(minLength) or more characters, not \(length)" }
            // Before the pattern, so that the length bounds its steps.
            if let maxLength, length > maxLength { return "must have \(maxLength) or fewer characters, not \(length)" }
        }
        guard let pattern, !pattern.matches(text, steps: &work) else { return nil }
        return "must match \(pattern.source.excerpt()), and \"\(text.excerpt(bytes: 32))\" does not"
    }

    /// Returns values for a message, as many as fit.
    static func list(_ values: [FieldValue]) -> String {
        let texts = values.map(\.json)
        let shown = texts.prefix(12)
        return shown.joined(separator: ", ").excerpt(bytes: 120) + (texts.count > shown.count ? ", …" : "")
    }
}

extension ValueConstraint {
    /// The bounds in words, for a schema's summary and comparison.
    package var words: [String] {
        var words: [String] = []
        if !allowed.isEmpty { words.append("one of \(allowed.map(\.json).joined(separator: ", "))") }
        if let minimum { words.append("at least \(minimum.json)") }
        if let maximum { words.append("at most \(maximum.json)") }
        if let minLength { words.append("\(minLength) or more characters") }
        if let maxLength { words.append("\(maxLength) or fewer characters") }
        if let pattern { words.append("matches \(pattern.source)") }
        return words
    }
}
