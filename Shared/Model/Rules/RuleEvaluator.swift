/// Evaluates an expression over bound variables, with CEL's semantics.
///
/// It neither traps nor loops without end: its recursion is that of the expression, and its steps are counted.
package struct RuleEvaluator {
    private let bindings: RuleBindings
    private var names: [(name: String, value: FieldValue)]
    /// The steps so far.
    package private(set) var steps = 0

    package init(_ bindings: RuleBindings) {
        self.bindings = bindings
        names = bindings.names
    }

    /// Returns the result; a fault if it needs more than ``RuleLimits/stepsMax`` steps.
    package mutating func evaluate(_ node: RuleNode) -> RuleOutcome {
        let outcome = result(of: node)
        return steps > RuleLimits.stepsMax ? .fault(.tooMuch) : outcome
    }

    private mutating func result(of node: RuleNode) -> RuleOutcome {
        guard spend(1) else { return .fault(.tooMuch) }
        switch node.kind {
        case .literal(let value): return .value(value)
        case .variable(let variable): return bindings[variable]
        case .name(let name):
            guard let bound = names.last(where: { $0.name == name }) else { return .fault(.unknownName) }
            return .value(bound.value)
        case .select(let operand, let field): return select(operand, field)
        case .has(let operand, let field): return has(operand, field)
        case .index(let operand, let index):
            let (one, other) = (result(of: operand), result(of: index))
            return combine(one, other) { RuleValues.element(of: $0, at: $1) }
        case .not(let operand):
            return map(result(of: operand)) {
                guard case .boolean(let flag) = $0 else { return .fault(.mismatch) }
                return .value(.boolean(!flag))
            }
        case .negate(let operand): return map(result(of: operand), RuleValues.negated)
        case .binary(.and, let left, let right): return junction(left, right, decidedBy: false)
        case .binary(.or, let left, let right): return junction(left, right, decidedBy: true)
        case .binary(let known, let left, let right): return binary(known, left, right)
        case .conditional(let condition, let yes, let no):
            switch result(of: condition) {
            case .value(.boolean(let flag)): return result(of: flag ? yes : no)
            case .value: return .fault(.mismatch)
            case .fault(let fault): return .fault(fault)
            case .unknown: return .unknown
            }
        case .list(let elements): return list(elements)
        case .map(let pairs): return literalMap(pairs)
        case .call(let function, let arguments): return call(function, arguments)
        case .macro(let macro, let range, let variable, let predicate):
            return fold(macro, over: result(of: range), variable, predicate)
        }
    }

    // MARK: Fields

    private mutating func select(_ operand: RuleNode, _ field: String) -> RuleOutcome {
        if let value = reading(of: field, in: operand) { return value }
        return map(result(of: operand)) {
            guard case .object(let fields) = $0 else { return .fault(.mismatch) }
            return fields[field].map { .value($0) } ?? .fault(.noSuchKey)
        }
    }

    /// Whether a field has a value. A record that does not exist has none, and neither do empty sets and maps, since
    /// models write those for properties without a value.
    private mutating func has(_ operand: RuleNode, _ field: String) -> RuleOutcome {
        if isRecord(operand), result(of: operand) == .value(.null) { return .no }
        if let value = reading(of: field, in: operand) {
            return map(value) { .value(.boolean(![.null, .array([]), .object(Fields())].contains($0))) }
        }
        return map(result(of: operand)) {
            switch $0 {
            case .object(let fields): return .value(.boolean(fields[field] != nil))
            case .null: return .no
            case .boolean, .integer, .double, .string, .array: return .fault(.mismatch)
            }
        }
    }

    /// Returns the value of a record's field as the schema reads it; `nil` if the operand is no record.
    private mutating func reading(of field: String, in operand: RuleNode) -> RuleOutcome? {
        guard let readings = bindings.readings, isRecord(operand) else { return nil }
        switch result(of: operand) {
        case .value(.object(let fields)):
            let value = fields[field] ?? .null
            return .value(value == .null ? readings[field] ?? .null : value)
        case .unknown where field == bindings.assumedAbsent: return .value(readings[field] ?? .null)
        case .unknown: return .unknown
        case .value: return .fault(.mismatch)
        case .fault(let fault): return .fault(fault)
        }
    }

    private func isRecord(_ node: RuleNode) -> Bool {
        node.kind == .variable(.before) || node.kind == .variable(.after)
    }

    // MARK: Operators

    /// `&&` and `||`: one side that decides makes the other irrelevant, whatever it is.
    private mutating func junction(_ left: RuleNode, _ right: RuleNode, decidedBy deciding: Bool) -> RuleOutcome {
        let one = Self.asBoolean(result(of: left))
        if one == .value(.boolean(deciding)) { return one }
        return Self.joined(one, Self.asBoolean(result(of: right)), decidedBy: deciding)
    }

    private static func joined(_ one: RuleOutcome, _ other: RuleOutcome, decidedBy deciding: Bool) -> RuleOutcome {
        let decided = RuleOutcome.value(.boolean(deciding))
        if one == decided || other == decided { return decided }
        if one == .unknown || other == .unknown { return .unknown }
        if case .fault = one { return one }
        return other
    }

    private static func asBoolean(_ outcome: RuleOutcome) -> RuleOutcome {
        switch outcome {
        case .value(.boolean), .fault, .unknown: outcome
        case .value: .fault(.mismatch)
        }
    }

    private mutating func binary(_ known: RuleOperator, _ left: RuleNode, _ right: RuleNode) -> RuleOutcome {
        let (one, other) = (result(of: left), result(of: right))
        if known.refusesNull, one == .value(.null) || other == .value(.null) { return .fault(.mismatch) }
        if case .value(let left) = one, case .value(let right) = other {
            guard spend(RuleValues.weight(of: known, left, right)) else { return .fault(.tooMuch) }
        }
        return combine(one, other) { RuleValues.applying(known, $0, $1) }
    }

    /// Applies a function of one value; faults and unknown values stay.
    private func map(_ outcome: RuleOutcome, _ body: (FieldValue) -> RuleOutcome) -> RuleOutcome {
        guard case .value(let value) = outcome else { return outcome }
        return body(value)
    }

    /// Applies a function of two values. A fault is certain even if the other value is unknown.
    private func combine(
        _ one: RuleOutcome, _ other: RuleOutcome, _ body: (FieldValue, FieldValue) -> RuleOutcome
    ) -> RuleOutcome {
        switch (one, other) {
        case (.value(let left), .value(let right)): body(left, right)
        case (.fault(let fault), _), (_, .fault(let fault)): .fault(fault)
        case (.unknown, _), (_, .unknown): .unknown
        }
    }

    /// Counts steps; false if there are too many.
    private mutating func spend(_ count: Int) -> Bool {
        steps += min(count, RuleLimits.stepsMax + 1)
        return steps <= RuleLimits.stepsMax
    }
}

extension RuleEvaluator {
    private mutating func list(_ elements: [RuleNode]) -> RuleOutcome {
        var values: [FieldValue] = []
        var isKnown = true
        for element in elements {
            switch result(of: element) {
            case .value(let value): values.append(value)
            case .fault(let fault): return .fault(fault)
            case .unknown: isKnown = false
            }
        }
        return isKnown ? .value(.array(values)) : .unknown
    }

    private mutating func literalMap(_ pairs: [RulePair]) -> RuleOutcome {
        var entries: [Fields.Entry] = []
        var isKnown = true
        for pair in pairs {
            switch (result(of: pair.key), result(of: pair.value)) {
            case (.value(.string(let key)), .value(let value)): entries.append(Fields.Entry(name: key, value: value))
            case (.fault(let fault), _), (_, .fault(let fault)): return .fault(fault)
            case (.unknown, _), (_, .unknown): isKnown = false
            case (.value, .value): return .fault(.mismatch)
            }
        }
        guard isKnown else { return .unknown }
        return Fields(unsorted: entries).map { .value(.object($0)) } ?? .fault(.repeatedKey)
    }

    private mutating func call(_ function: RuleFunction, _ arguments: [RuleNode]) -> RuleOutcome {
        guard let first = arguments.first else { return .fault(.mismatch) }
        let one = result(of: first)
        guard arguments.count > 1 else {
            if case .value(let value) = one, !spend(RuleValues.weight(of: value)) { return .fault(.tooMuch) }
            return map(one) { RuleValues.applying(function, $0) }
        }
        let other = result(of: arguments[1])
        if case .value(let value) = one, !spend(RuleValues.weight(of: value)) { return .fault(.tooMuch) }
        return combine(one, other) { RuleValues.applying(function, $0, $1) }
    }

    private mutating func fold(
        _ macro: RuleMacro, over range: RuleOutcome, _ variable: String, _ predicate: RuleNode
    ) -> RuleOutcome {
        let elements: [FieldValue]
        switch range {
        case .value(.array(let values)): elements = values
        case .value(.object(let fields)): elements = fields.entries.map { .string($0.name) }
        case .value: return .fault(.mismatch)
        case .fault, .unknown: return range
        }
        var result: RuleOutcome = macro == .all ? .yes : .no
        var count = 0
        names.append((variable, .null))
        defer { names.removeLast() }
        for element in elements {
            names[names.count - 1].value = element
            let outcome = Self.asBoolean(self.result(of: predicate))
            if steps > RuleLimits.stepsMax { return .fault(.tooMuch) }
            switch macro {
            case .all, .exists:
                let deciding = macro == .exists
                if outcome == .value(.boolean(deciding)) { return outcome }
                result = Self.joined(result, outcome, decidedBy: deciding)
            case .existsOne:
                // It absorbs nothing: each element counts.
                if case .fault = outcome { return outcome }
                if outcome == .unknown { result = .unknown }
                if outcome == .yes { count += 1 }
            }
        }
        guard macro == .existsOne, result != .unknown else { return result }
        return .value(.boolean(count == 1))
    }
}
