extension SchemaRules {
    /// The largest product of a pattern's size and the characters of a text: some ten milliseconds of matching.
    static let patternWorkMax = 64 * 65_536

    /// Checks the constraints of a field against the field's type, rule, size and default.
    static func checkConstraint(
        of field: FieldSchema, _ error: (String) -> SchemaError
    ) throws(SchemaError) {
        guard let constraint = field.constraint else { return }
        if field.merge == .counter, !constraint.value.allowed.isEmpty {
            throw error("rule counter adds, so the field takes \"minimum\" and \"maximum\", and no \"enum\"")
        }
        if let minLength = constraint.value.minLength, minLength > field.sizeMax {
            throw error("\"minLength\" \(minLength) is more than \"max\" \(field.sizeMax): no text fits; raise \"max\"")
        }
        if let minItems = constraint.minItems, minItems > field.sizeMax {
            throw error("\"minItems\" \(minItems) is more than \"max\" \(field.sizeMax): no set fits; raise \"max\"")
        }
        for value in constraint.value.allowed {
            guard case .string(let text) = value, text.utf8.count > field.sizeMax else { continue }
            throw error("\"enum\" lists \(text.excerpt()), which is longer than \"max\" \(field.sizeMax)")
        }
        try checkPattern(constraint, field, error)
        if let transitions = constraint.transitions { try check(transitions, constraint, field, error) }
        guard let value = field.defaultValue else { return }
        var work = 0
        if let reason = constraint.refusal(of: value, replacing: nil, work: &work) {
            throw error("\"default\" \(reason)")
        }
    }

    /// Bounds the time that a pattern may take for one value: everybody's writes wait for it.
    private static func checkPattern(
        _ constraint: FieldConstraint, _ field: FieldSchema, _ error: (String) -> SchemaError
    ) throws(SchemaError) {
        for value in [constraint.value, constraint.items] {
            guard let pattern = value.pattern else { continue }
            var characters = field.sizeMax
            // The size of a set counts elements, and a record has no more text than this unless its server allows it.
            if field.type == .set {
                characters = min(65_536, (value.maxLength ?? 65_536).multipliedClamped(by: field.sizeMax))
            } else if let maxLength = value.maxLength, field.type == .string {
                characters = min(characters, maxLength)
            }
            guard pattern.size.multipliedClamped(by: characters) <= patternWorkMax else {
                throw error(
                    "\"pattern\" has \(pattern.size) parts and may meet \(characters) characters: set \"max\" or"
                        + " \"maxLength\" to at most \(patternWorkMax / pattern.size)")
            }
        }
    }

    private static func check(
        _ transitions: Transitions, _ constraint: FieldConstraint, _ field: FieldSchema,
        _ error: (String) -> SchemaError
    ) throws(SchemaError) {
        guard [.lww, .manual, .server].contains(field.merge) else {
            throw error("\"transitions\" needs rule lww, manual or server, and the field's is \(field.merge.rawValue)")
        }
        for state in transitions.states where !constraint.value.allowed.contains(.string(state)) {
            throw error("\"transitions\" and \"initial\" name \(state.excerpt()), which \"enum\" does not list: add it")
        }
        var work = 0
        for state in transitions.states {
            if let reason = constraint.value.refusal(of: .string(state), work: &work) {
                throw error("\"transitions\" name \(state.excerpt()), which never passes: it \(reason)")
            }
        }
        if case .string(let value)? = field.defaultValue, !transitions.begins(with: value) {
            throw error("\"default\" \(value.excerpt()) is not in \"initial\": records without a value would have it")
        }
    }
}

extension Int {
    fileprivate func multipliedClamped(by other: Int) -> Int {
        let (product, overflow) = multipliedReportingOverflow(by: other)
        return overflow ? .max : product
    }
}
