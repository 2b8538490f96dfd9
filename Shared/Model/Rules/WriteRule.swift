/// A rule that every write of a collection's records keeps (`"rules": [{"name": …, "if": …}]`).
///
/// It is judged at the end of a transaction, once for each record that it touched: on the device before the write is
/// shown, and by the server in the order of commits.
public struct WriteRule: Hashable, Sendable {
    /// The name, by which refusals, logs and metrics mention it.
    public let name: String
    /// The operations that it judges.
    public let operations: Set<RuleOperation>
    /// The condition as it is in the document, in a subset of CEL.
    public let condition: String
    /// The sentence that users of an app read when a write breaks it.
    public let message: String?
    /// True if service principals must keep it too.
    public let bindsServices: Bool
    package let expression: RuleNode

    /// The operations of a rule that names none: whatever leaves a record.
    static let ordinary: Set<RuleOperation> = [.create, .change, .restore]

    /// Returns the rule with other names of its record's fields.
    func renamed(_ name: (String) -> String) -> WriteRule {
        WriteRule(
            name: self.name, operations: operations, condition: condition, message: message,
            bindsServices: bindsServices, expression: expression.renamed(name))
    }
}

extension RuleNode {
    /// The expression with other names of the fields of `before` and `after`.
    func renamed(_ name: (String) -> String) -> RuleNode {
        func field(_ operand: RuleNode, _ field: String) -> String {
            operand.kind == .variable(.before) || operand.kind == .variable(.after) ? name(field) : field
        }
        let renamed: Kind =
            switch kind {
            case .literal, .variable, .name: kind
            case .select(let operand, let selected): .select(operand.renamed(name), field(operand, selected))
            case .has(let operand, let selected): .has(operand.renamed(name), field(operand, selected))
            case .index(let operand, let index): .index(operand.renamed(name), index.renamed(name))
            case .not(let operand): .not(operand.renamed(name))
            case .negate(let operand): .negate(operand.renamed(name))
            case .binary(let known, let left, let right): .binary(known, left.renamed(name), right.renamed(name))
            case .conditional(let condition, let yes, let no):
                .conditional(condition.renamed(name), yes.renamed(name), no.renamed(name))
            case .list(let elements): .list(elements.map { $0.renamed(name) })
            case .map(let pairs):
                .map(pairs.map { RulePair(key: $0.key.renamed(name), value: $0.value.renamed(name)) })
            case .call(let function, let arguments): .call(function, arguments.map { $0.renamed(name) })
            case .macro(let macro, let range, let variable, let predicate):
                .macro(macro, range.renamed(name), variable, predicate.renamed(name))
            }
        return RuleNode(renamed, at: position)
    }

    /// The names of the fields that the expression reads of `before` and `after`, with the position of the first read.
    var fieldsRead: [String: RulePosition] {
        var read: [String: RulePosition] = [:]
        if case .select(let operand, let field) = kind,
            operand.kind == .variable(.before) || operand.kind == .variable(.after)
        {
            read[field] = position
        }
        for part in kind.parts { read.merge(part.fieldsRead) { first, _ in first } }
        return read
    }
}
