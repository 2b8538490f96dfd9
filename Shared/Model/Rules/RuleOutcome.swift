/// The result of an evaluation.
package enum RuleOutcome: Hashable, Sendable {
    case value(FieldValue)
    case fault(RuleFault)
    /// The result depends on a value that is not known here.
    case unknown

    static let yes = RuleOutcome.value(.boolean(true))
    static let no = RuleOutcome.value(.boolean(false))
}

/// An error of an evaluation. Like CEL's, it makes every expression around it fail, except where `&&`, `||`, `?:` and
/// macros do not depend on it.
package enum RuleFault: String, Error, Hashable, Sendable {
    case mismatch = "an operator or function has values of types that it does not take"
    case unknownName = "a name is unknown"
    case noSuchKey = "a field or key does not exist"
    case outOfRange = "an index is outside of its list"
    case divisionByZero = "a number is divided by zero"
    case overflow = "a result is not a whole number of 64 bits"
    case malformed = "a text is not a number"
    case repeatedKey = "a map has a key twice"
    case tooMuch = "the evaluation has too many steps"
}

/// The values of the variables during one evaluation.
package struct RuleBindings: Sendable {
    package var before: RuleOutcome = .unknown
    package var after: RuleOutcome = .unknown
    package var user: RuleOutcome = .unknown
    package var role: RuleOutcome = .unknown
    package var author: RuleOutcome = .unknown
    package var now: RuleOutcome = .unknown
    package var op: RuleOutcome = .unknown
    /// The values of absent fields of `before` and `after`; other absent fields are null. Without it, an absent field is
    /// an error.
    package var readings: Fields?
    /// A field that is absent from an unknown record, for the checker's trials.
    var assumedAbsent: String?
    /// Values of other names.
    package var names: [(name: String, value: FieldValue)] = []

    package init() {}

    subscript(_ variable: RuleVariable) -> RuleOutcome {
        switch variable {
        case .before: before
        case .after: after
        case .user: user
        case .role: role
        case .author: author
        case .now: now
        case .op: op
        }
    }
}
