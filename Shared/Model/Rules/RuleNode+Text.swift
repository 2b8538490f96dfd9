extension RuleNode {
    /// The expression as text; parsing it gives the same expression.
    package var text: String { text(binding: 0) }

    /// - Parameter binding: the precedence of the operator around it; brackets are written where they are needed.
    private func text(binding: Int) -> String {
        let written = written
        return precedence < binding ? "(\(written))" : written
    }

    private var precedence: Int {
        switch kind {
        case .conditional: 0
        case .binary(let known, _, _): known.precedence
        case .not, .negate: 6
        case .literal(.integer(let value)): value < 0 ? 6 : 7
        case .literal(.double(let value)): value.sign == .minus ? 6 : 7
        case .literal, .variable, .name, .select, .has, .index, .list, .map, .call, .macro: 7
        }
    }

    private var written: String {
        switch kind {
        case .literal(let value): return Self.literal(value)
        case .variable(let variable): return variable.rawValue
        case .name(let name): return name
        case .select(let operand, let field): return "\(operand.receiver).\(field)"
        case .has(let operand, let field): return "has(\(operand.receiver).\(field))"
        case .index(let operand, let index): return "\(operand.receiver)[\(index.text)]"
        case .not(let operand): return "!" + operand.operandOfUnary(isNot: true)
        case .negate(let operand): return "-" + operand.operandOfUnary(isNot: false)
        case .binary(let known, let left, let right):
            let (left, right) = (left.text(binding: known.precedence), right.text(binding: known.precedence + 1))
            return "\(left) \(known.rawValue) \(right)"
        case .conditional(let condition, let yes, let no):
            return "\(condition.text(binding: 1)) ? \(yes.text(binding: 1)) : \(no.text)"
        case .list(let elements): return "[\(elements.map(\.text).joined(separator: ", "))]"
        case .map(let pairs):
            return "{\(pairs.map { "\($0.key.text): \($0.value.text)" }.joined(separator: ", "))}"
        case .call(let function, let arguments):
            guard function.isMethod, let receiver = arguments.first else {
                return "\(function.rawValue)(\(arguments.map(\.text).joined(separator: ", ")))"
            }
            let others = arguments.dropFirst().map(\.text).joined(separator: ", ")
            return "\(receiver.receiver).\(function.rawValue)(\(others))"
        case .macro(let macro, let range, let variable, let predicate):
            return "\(range.receiver).\(macro.rawValue)(\(variable), \(predicate.text))"
        }
    }

    /// The text before a dot or an index; a number is put in brackets, since its dot would be part of it.
    private var receiver: String {
        switch kind {
        case .literal(.integer), .literal(.double): "(\(text))"
        default: text(binding: 7)
        }
    }

    /// The text after `!` or `-`. A minus before a number would become part of it.
    private func operandOfUnary(isNot: Bool) -> String {
        switch kind {
        case .literal(.integer), .literal(.double): "(\(text))"
        case .not: isNot ? text : "(\(text))"
        case .negate: isNot ? "(\(text))" : text
        default: text(binding: 7)
        }
    }

    private static func literal(_ value: FieldValue) -> String {
        switch value {
        case .null: return "null"
        case .boolean(let flag): return flag ? "true" : "false"
        case .integer(let number): return String(number)
        case .double(let number): return number.description
        case .string(let text): return quoted(text)
        case .array(let elements): return "[\(elements.map(literal).joined(separator: ", "))]"
        case .object(let fields):
            return "{\(fields.entries.map { "\(quoted($0.name)): \(literal($0.value))" }.joined(separator: ", "))}"
        }
    }

    private static func quoted(_ text: String) -> String {
        var quoted = "'"
        for scalar in text.unicodeScalars {
            switch scalar {
            case "'", "\\": quoted += "\\\(scalar)"
            case "\n": quoted += "\\n"
            case "\r": quoted += "\\r"
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "'"
    }
}
