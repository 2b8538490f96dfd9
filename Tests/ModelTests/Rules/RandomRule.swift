import TidemarkModel

/// Random expressions by the grammar, and random values for their variables.
struct RandomRule {
    var generator: SplitMix
    /// The parts of the last expression.
    private(set) var nodes = 0
    private var depthNow = 0

    init(seed: UInt64) { generator = SplitMix(seed: seed) }

    private mutating func below(_ count: Int) -> Int { Int.random(in: 0..<count, using: &generator) }

    private mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }

    /// Returns an expression of at most this depth.
    mutating func node(depth: Int) -> RuleNode {
        nodes = 0
        return part(depth)
    }

    private mutating func part(_ depth: Int) -> RuleNode {
        nodes += 1
        guard depth > 1, below(8) > 0 else { return leaf() }
        let inner = depth - 1
        switch below(20) {
        case 0: return RuleNode(.select(part(inner), pick(["a", "b", "all", "size"])))
        case 1: return RuleNode(.has(record(), pick(["a", "b"])))
        case 2: return RuleNode(.index(part(inner), part(inner)))
        case 3: return RuleNode(.not(part(inner)))
        case 4: return RuleNode(.negate(part(inner)))
        case 5: return RuleNode(.conditional(part(inner), part(inner), part(inner)))
        case 6: return RuleNode(.list((0..<below(4)).map { _ in part(inner) }))
        case 7:
            let pairs = (0..<below(3)).map { _ in
                RulePair(key: RuleNode(.literal(.string(pick(["a", "b", "c"])))), value: part(inner))
            }
            return RuleNode(.map(pairs))
        case 8:
            let function = pick(RuleFunction.allCases)
            return RuleNode(.call(function, function.isCalledOnTwo ? [part(inner), part(inner)] : [part(inner)]))
        case 9, 10: return RuleNode(.macro(pick(RuleMacro.allCases), part(inner), pick(["x", "y"]), part(inner)))
        case 11, 12: return RuleNode(.select(record(), pick(["a", "b", "c"])))
        default: return RuleNode(.binary(pick(RuleOperator.allCases), part(inner), part(inner)))
        }
    }

    private mutating func record() -> RuleNode { RuleNode(.variable(pick([.before, .after]))) }

    private mutating func leaf() -> RuleNode {
        switch below(4) {
        case 0: RuleNode(.variable(pick(RuleVariable.allCases)))
        case 1: RuleNode(.name(pick(["x", "y", "z"])))
        default: RuleNode(.literal(scalar()))
        }
    }

    private mutating func scalar() -> FieldValue {
        switch below(6) {
        case 0: .null
        case 1: .boolean(below(2) == 0)
        case 2: .integer(pick([0, 1, -1, 7, .max, .min, .max - 1]))
        case 3: .double(pick([0, -0.0, 0.5, -1.5, 1e300, .leastNonzeroMagnitude, 9_223_372_036_854_775_808]))
        default: .string(pick(["", "a", "b", "it's", "back\\slash", "two\nlines", "e\u{301}", "é", "🧾", "\u{0}"]))
        }
    }

    private mutating func value() -> FieldValue {
        switch below(5) {
        case 0: .array((0..<below(5)).map { _ in scalar() })
        case 1: .object(["a": scalar(), "b": scalar()])
        default: scalar()
        }
    }

    /// Returns values for all variables.
    mutating func bindings() -> RuleBindings {
        var bindings = RuleBindings()
        bindings.before = .value(below(3) == 0 ? .null : .object(["a": value(), "b": value()]))
        bindings.after = .value(below(3) == 0 ? .null : .object(["a": value(), "c": value()]))
        bindings.user = .value(.string(pick(["a", "b"])))
        bindings.author = .value(.string(pick(["a", "b"])))
        bindings.role = .value(.string(pick(["none", "member", "admin"])))
        bindings.now = .value(.integer(pick([0, 1_760_000_000_000])))
        bindings.op = .value(.string(pick(["create", "change"])))
        bindings.names = [("z", value())]
        if below(2) == 0 { bindings.readings = ["b": .array([])] }
        return bindings
    }
}

extension RuleFunction {
    fileprivate var isCalledOnTwo: Bool { [.startsWith, .endsWith, .contains].contains(self) }
}
