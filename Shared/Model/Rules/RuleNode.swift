/// An expression of a rule. Two are equal if they mean the same; positions do not matter.
package struct RuleNode: Hashable, Sendable {
    /// One kind of expression with its parts.
    package indirect enum Kind: Hashable, Sendable {
        case literal(FieldValue)
        /// A variable of every rule.
        case variable(RuleVariable)
        /// A variable of an enclosing macro.
        case name(String)
        case select(RuleNode, String)
        /// `has(a.b)`.
        case has(RuleNode, String)
        case index(RuleNode, RuleNode)
        case not(RuleNode)
        case negate(RuleNode)
        case binary(RuleOperator, RuleNode, RuleNode)
        case conditional(RuleNode, RuleNode, RuleNode)
        case list([RuleNode])
        case map([RulePair])
        /// A function with its arguments; a method's receiver is the first.
        case call(RuleFunction, [RuleNode])
        /// The macro, its range, the variable's name and the predicate.
        case macro(RuleMacro, RuleNode, String, RuleNode)
    }

    package let kind: Kind
    package let position: RulePosition
    /// 1 for an expression without parts.
    package let depth: Int

    package init(_ kind: Kind, at position: RulePosition = RulePosition()) {
        self.kind = kind
        self.position = position
        depth = 1 + kind.parts.reduce(0) { max($0, $1.depth) }
    }

    package static func == (left: RuleNode, right: RuleNode) -> Bool { left.kind == right.kind }

    package func hash(into hasher: inout Hasher) { hasher.combine(kind) }
}

/// One entry of a map literal.
package struct RulePair: Hashable, Sendable {
    package let key: RuleNode
    package let value: RuleNode

    package init(key: RuleNode, value: RuleNode) {
        self.key = key
        self.value = value
    }
}

extension RuleNode.Kind {
    /// The expressions directly inside.
    package var parts: [RuleNode] {
        switch self {
        case .literal, .variable, .name: []
        case .select(let operand, _), .has(let operand, _), .not(let operand), .negate(let operand): [operand]
        case .index(let left, let right), .binary(_, let left, let right), .macro(_, let left, _, let right):
            [left, right]
        case .conditional(let condition, let yes, let no): [condition, yes, no]
        case .list(let elements), .call(_, let elements): elements
        case .map(let pairs): pairs.flatMap { [$0.key, $0.value] }
        }
    }
}

/// The variables of every rule.
package enum RuleVariable: String, Hashable, Sendable, CaseIterable {
    /// The record before the transaction; null at its creation.
    case before
    /// The record after the transaction; null at its deletion.
    case after
    /// The user who writes.
    case user
    /// The writer's role in the record's scope: `none`, `member`, `admin`, `owner` or `server`.
    case role
    /// The user who created the record.
    case author
    /// The time of the server, in milliseconds since 1970.
    case now
    /// `create`, `change`, `delete` or `restore`.
    case op

    /// The only values of the variable, if they are few.
    var values: [String]? {
        switch self {
        case .role: ["none", "member", "admin", "owner", "server"]
        case .op: RuleOperation.allCases.map(\.rawValue)
        case .before, .after, .user, .author, .now: nil
        }
    }
}

/// The effect of a transaction on one record; the raw value is the name in a schema file.
public enum RuleOperation: String, Hashable, Sendable, CaseIterable {
    case create
    case change
    case delete
    case restore
}

/// An operator between two expressions; the raw value is its symbol.
package enum RuleOperator: String, Hashable, Sendable, CaseIterable {
    case or = "||"
    case and = "&&"
    case equal = "=="
    case notEqual = "!="
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="
    case isIn = "in"
    case add = "+"
    case subtract = "-"
    case multiply = "*"
    case divide = "/"
    case remainder = "%"

    /// A higher one binds tighter; operators of one precedence are evaluated from left to right.
    var precedence: Int {
        switch self {
        case .or: 1
        case .and: 2
        case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual, .isIn: 3
        case .add, .subtract: 4
        case .multiply, .divide, .remainder: 5
        }
    }
}

/// A function; the raw value is its name.
package enum RuleFunction: String, Hashable, Sendable, CaseIterable {
    case size
    case startsWith
    case endsWith
    case contains
    case int
    case double
    case string

    /// Whether it is called as `receiver.name(argument)`.
    var isMethod: Bool { self == .startsWith || self == .endsWith || self == .contains }
}

/// A test of each element of a list or key of a map; the raw value is its name.
package enum RuleMacro: String, Hashable, Sendable, CaseIterable {
    case all
    case exists
    case existsOne = "exists_one"
}
