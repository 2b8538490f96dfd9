/// The kinds of values that a constraint's bounds are for.
private enum ConstrainedKind {
    case number(FieldType)
    case text
    /// The values of a map.
    case scalar
    /// No single value.
    case none

    init(_ type: FieldType) {
        switch type {
        case .string: self = .text
        case .integer, .double, .timestamp: self = .number(type)
        case .boolean, .reference, .set, .map, .json, .blob: self = .none
        }
    }

    /// The kind of a type's elements.
    init(elementsOf type: FieldType) {
        switch type {
        case .set: self = .text
        case .map: self = .scalar
        case .string, .integer, .double, .boolean, .timestamp, .reference, .json, .blob: self = .none
        }
    }

    var hasText: Bool {
        switch self {
        case .text, .scalar: true
        case .number, .none: false
        }
    }

    var hasNumber: Bool {
        switch self {
        case .number, .scalar: true
        case .text, .none: false
        }
    }

    /// Returns the value in its canonical form; `nil` if it is of another kind.
    func canonical(_ value: FieldValue) -> FieldValue? {
        switch (self, value) {
        case (.number(let type), _): type.canonical(value)
        case (.text, .string), (.scalar, .boolean), (.scalar, .integer), (.scalar, .double), (.scalar, .string): value
        default: nil
        }
    }
}

extension FieldConstraint {
    static let valuesMax = 256

    /// Reads the constraints of a field; `nil` if it has none.
    static func read(_ object: inout SchemaObject, _ type: FieldType) throws(SchemaError) -> FieldConstraint? {
        var value = try ValueConstraint(&object, .init(type), type.rawValue)
        var items = ValueConstraint()
        if let body = try object.object("items") {
            guard type == .set || type == .map else {
                throw object.error("\"items\" is for sets and maps, and the field is \(type.rawValue)")
            }
            var inner = object.nested(body, "items")
            items = try ValueConstraint(&inner, .init(elementsOf: type), "an element of a \(type.rawValue)")
            try inner.end()
            guard !items.isEmpty else { throw object.error("\"items\" is empty: remove it") }
        }
        let minItems = try object.count("minItems")
        let maxItems = try object.count("maxItems")
        if minItems ?? maxItems != nil, type != .set {
            throw object.error("\"minItems\" and \"maxItems\" are for sets, and the field is \(type.rawValue)")
        }
        if let minItems, let maxItems, minItems > maxItems {
            throw object.error("\"minItems\" \(minItems) is more than \"maxItems\" \(maxItems): no set fits")
        }
        let transitions = try Transitions.read(&object, type)
        if let transitions, value.allowed.isEmpty { value.allowed = transitions.states.map { .string($0) } }
        let constraint = FieldConstraint(
            value: value, items: items, minItems: minItems, maxItems: maxItems, transitions: transitions)
        return constraint.isEmpty ? nil : constraint
    }
}

extension ValueConstraint {
    /// - Parameter subject: the type in messages.
    fileprivate init(
        _ object: inout SchemaObject, _ kind: ConstrainedKind, _ subject: String
    ) throws(SchemaError) {
        minimum = try Self.bound("minimum", &object, kind, subject)
        maximum = try Self.bound("maximum", &object, kind, subject)
        minLength = try object.count("minLength")
        maxLength = try object.count("maxLength")
        if let source = try object.string("pattern") {
            do throws(PatternError) {
                pattern = try TextPattern(source)
            } catch {
                throw object.error("\"pattern\" \(error)")
            }
        }
        if minLength != nil || maxLength != nil || pattern != nil, !kind.hasText {
            throw object.error(
                "\"minLength\", \"maxLength\" and \"pattern\" are for strings, and this is \(subject)")
        }
        if let minimum, let maximum, maximum.isLess(than: minimum) == true {
            throw object.error(
                "\"minimum\" \(minimum.json) is more than \"maximum\" \(maximum.json): no value fits")
        }
        if let minLength, let maxLength, minLength > maxLength {
            throw object.error("\"minLength\" \(minLength) is more than \"maxLength\" \(maxLength): no text fits")
        }
        try readAllowed(&object, kind, subject)
    }

    private static func bound(
        _ key: String, _ object: inout SchemaObject, _ kind: ConstrainedKind, _ subject: String
    ) throws(SchemaError) -> FieldValue? {
        guard let value = object.take(key) else { return nil }
        guard kind.hasNumber else {
            throw object.error("\"\(key)\" is for numbers and timestamps, and this is \(subject)")
        }
        switch kind.canonical(value) {
        case .integer(let number)?: return .integer(number)
        case .double(let number)?: return .double(number)
        default: throw object.error("\"\(key)\" must be a number that fits \(subject), not \(value.json.excerpt())")
        }
    }

    /// Reads `enum`, whose values must pass the other bounds.
    private mutating func readAllowed(
        _ object: inout SchemaObject, _ kind: ConstrainedKind, _ subject: String
    ) throws(SchemaError) {
        guard let list = object.take("enum") else { return }
        guard case .array(let elements) = list, (1...FieldConstraint.valuesMax).contains(elements.count) else {
            throw object.error("\"enum\" is a list of 1 to \(FieldConstraint.valuesMax) values")
        }
        if case .none = kind { throw object.error("\"enum\" is for strings and numbers, and this is \(subject)") }
        var values: [FieldValue] = []
        for element in elements {
            guard let value = kind.canonical(element) else {
                let hint = element == .null ? "; an absent value passes without it" : ""
                throw object.error("\"enum\" must list values of \(subject), not \(element.json.excerpt())\(hint)")
            }
            guard !values.contains(value) else {
                throw object.error("\"enum\" lists \(value.json.excerpt()) twice: remove one")
            }
            var work = 0
            if let reason = refusal(of: value, work: &work) {
                throw object.error("\"enum\" lists \(value.json.excerpt()), which never passes: it \(reason)")
            }
            values.append(value)
        }
        allowed = values
    }
}

extension Transitions {
    /// Reads `transitions` and `initial`; `nil` without them.
    fileprivate static func read(_ object: inout SchemaObject, _ type: FieldType) throws(SchemaError) -> Transitions? {
        let initial = try object.strings("initial")
        guard let body = try object.object("transitions") else {
            if initial != nil { throw object.error("\"initial\" needs \"transitions\": list the steps, or remove it") }
            return nil
        }
        guard type == .string else {
            throw object.error("\"transitions\" is for strings, and the field is \(type.rawValue)")
        }
        if let initial, initial.isEmpty { throw object.error("\"initial\" is empty: no record could begin") }
        guard !body.isEmpty, body.entries.count <= FieldConstraint.valuesMax else {
            throw object.error("\"transitions\" has the steps from 1 to \(FieldConstraint.valuesMax) values")
        }
        var origins: [Origin] = []
        for entry in body.entries {
            guard case .array(let elements) = entry.value else {
                throw object.error(
                    "\"transitions\" of \(entry.name.excerpt()) must be a list of values; [] if it is final")
            }
            var steps: [Step] = []
            for element in elements {
                let step = try step(element, from: entry.name, object)
                guard !steps.contains(where: { $0.to.hasSameBytes(as: step.to) }) else {
                    throw object.error("\"transitions\" of \(entry.name.excerpt()) lists \(step.to.excerpt()) twice")
                }
                steps.append(step)
            }
            origins.append(Origin(from: entry.name, steps: steps))
        }
        return Transitions(origins: origins, initial: initial)
    }

    /// Reads a value, or `{"to": VALUE, "by": [ROLE, …]}`.
    private static func step(
        _ element: FieldValue, from origin: String, _ object: SchemaObject
    ) throws(SchemaError) -> Step {
        let step: Step
        switch element {
        case .string(let to): step = Step(to: to, by: nil)
        case .object(let body):
            var inner = object.nested(body, "transitions")
            guard let to = try inner.string("to") else { throw inner.error("a step needs \"to\", a value") }
            step = Step(to: to, by: try inner.accessors("by"))
            try inner.end()
        default:
            throw object.error(
                "\"transitions\" of \(origin.excerpt()): a step is a value, or {\"to\": VALUE, \"by\": [ROLE, …]}")
        }
        guard !step.to.hasSameBytes(as: origin) else {
            throw object.error(
                "\"transitions\" of \(origin.excerpt()) leads to itself: writing the same value is no step, remove it")
        }
        return step
    }
}
