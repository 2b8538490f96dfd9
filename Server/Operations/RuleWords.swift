package import TidemarkModel

extension WriteRule {
    /// The rule in plain words, for people who decide whether it says what they mean.
    package var words: String {
        let operations = RuleOperation.allCases.filter(operations.contains).map(\.rawValue).joined(separator: ", ")
        let services = bindsServices ? ", services too" : ""
        let message = message.map { ": \"\($0)\"" } ?? ""
        return "\(name) (\(operations)\(services)): \(RuleWords(expression).text)\(message)"
    }
}

/// An expression of a rule as an English sentence.
private struct RuleWords {
    let node: RuleNode

    init(_ node: RuleNode) { self.node = node }

    var text: String {
        switch node.kind {
        case .literal, .name, .index, .list, .map: node.text
        case .variable(let variable): Self.words(variable)
        case .select(let operand, let field): Self.field(field, of: operand)
        case .has(let operand, let field): "\(Self.field(field, of: operand)) has a value"
        case .not(let operand): "not (\(RuleWords(operand).text))"
        case .negate(let operand): "-\(RuleWords(operand).part)"
        case .binary(let known, let left, let right): binary(known, left, right)
        case .conditional(let condition, let yes, let no):
            "if \(RuleWords(condition).text), then \(RuleWords(yes).part), else \(RuleWords(no).part)"
        case .call(let function, let arguments): call(function, arguments.map { RuleWords($0).part })
        case .macro(let macro, let range, let variable, let predicate):
            "\(Self.words(macro)) \(variable) in \(RuleWords(range).part): (\(RuleWords(predicate).text))"
        }
    }

    /// The text inside another sentence.
    private var part: String {
        switch node.kind {
        case .binary, .conditional, .macro: "(\(text))"
        case .literal, .variable, .name, .select, .has, .index, .not, .negate, .list, .map, .call: text
        }
    }

    private func binary(_ known: RuleOperator, _ left: RuleNode, _ right: RuleNode) -> String {
        if right.kind == .literal(.null), known == .equal || known == .notEqual {
            switch left.kind {
            case .variable(.before): return "the record \(known == .equal ? "is new" : "existed before")"
            case .variable(.after): return "the record \(known == .equal ? "is deleted" : "exists after it")"
            default: break
            }
        }
        return "\(side(left, of: known)) \(Self.words(known)) \(side(right, of: known))"
    }

    /// One side of an operator: a chain of the same junction, and comparisons in one, need no brackets.
    private func side(_ side: RuleNode, of known: RuleOperator) -> String {
        guard known == .and || known == .or, case .binary(let inner, _, _) = side.kind,
            inner == known || (inner != .and && inner != .or)
        else { return RuleWords(side).part }
        return RuleWords(side).text
    }

    private func call(_ function: RuleFunction, _ arguments: [String]) -> String {
        let (first, second) = (arguments.first ?? "", arguments.dropFirst().first ?? "")
        return switch function {
        case .size: "the size of \(first)"
        case .startsWith: "\(first) begins with \(second)"
        case .endsWith: "\(first) ends with \(second)"
        case .contains: "\(first) contains \(second)"
        case .int: "\(first) as a whole number"
        case .double: "\(first) as a number with fraction"
        case .string: "\(first) as text"
        }
    }

    private static func field(_ field: String, of operand: RuleNode) -> String {
        switch operand.kind {
        case .variable(.after): field
        case .variable(.before): "\(field) before"
        default: "\(field) of \(RuleWords(operand).part)"
        }
    }

    private static func words(_ variable: RuleVariable) -> String {
        switch variable {
        case .before: "the record before"
        case .after: "the record"
        case .user: "the writer"
        case .role: "the writer's role"
        case .author: "the record's author"
        case .now: "the server's time"
        case .op: "the operation"
        }
    }

    private static func words(_ macro: RuleMacro) -> String {
        switch macro {
        case .all: "for each"
        case .exists: "for at least one"
        case .existsOne: "for exactly one"
        }
    }

    private static func words(_ known: RuleOperator) -> String {
        switch known {
        case .or: "or"
        case .and: "and"
        case .equal: "is"
        case .notEqual: "is not"
        case .less: "is less than"
        case .lessOrEqual: "is at most"
        case .greater: "is more than"
        case .greaterOrEqual: "is at least"
        case .isIn: "is in"
        case .add, .subtract, .multiply, .divide, .remainder: known.rawValue
        }
    }
}
