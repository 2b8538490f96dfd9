/// An error in the text of a rule, with its position and, where one is known, a remedy.
package struct RuleError: Error, Hashable, Sendable, CustomStringConvertible {
    package let position: RulePosition
    package let reason: String

    init(_ position: RulePosition, _ reason: String) {
        self.position = position
        self.reason = reason
    }

    package var description: String { "\(position.line):\(position.column): \(reason)" }
}

/// A position in the text of a rule; both numbers begin with 1, and columns count Unicode scalars.
package struct RulePosition: Hashable, Sendable {
    package var line = 1
    package var column = 1
}

/// The bounds of one rule. Server and device use the same ones, so that they judge alike.
package enum RuleLimits {
    /// The bytes of its text.
    package static let textMax = 4_096
    /// The parts of its expression: literals, names, operators, calls.
    package static let nodesMax = 512
    /// The depth of its expression; 39 operators of one kind in a row make 40.
    package static let depthMax = 40
    /// The brackets, calls and conditionals inside each other.
    package static let nestingMax = 26
    /// The steps of one evaluation: a part is one, and so are 64 bytes of text that are compared or copied.
    package static let stepsMax = 100_000
    /// The steps that all rules of a collection may need for one record.
    package static let collectionStepsMax = 200_000
    /// The rules of one collection.
    package static let rulesMax = 64
    /// The bytes of a rule's message, so that a refusal with its names is never cut.
    package static let messageMax = 140
}
