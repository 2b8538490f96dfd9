/// The steps by which a text changes from one value to another (`"transitions"`).
package struct Transitions: Hashable, Sendable {
    /// A step to a value.
    package struct Step: Hashable, Sendable {
        package let to: String
        /// The users who may take it; `nil` for all who may change the field.
        package let by: Set<Accessor>?
    }

    /// The steps from one value.
    package struct Origin: Hashable, Sendable {
        package let from: String
        package let steps: [Step]
    }

    package let origins: [Origin]
    /// The values with which a record begins; `nil` for all.
    package let initial: [String]?

    /// The values that the steps name, each once.
    var states: [String] {
        let named = origins.flatMap { [$0.from] + $0.steps.map(\.to) } + (initial ?? [])
        var states: [String] = []
        for state in named where !states.contains(where: { $0.hasSameBytes(as: state) }) { states.append(state) }
        return states
    }

    /// Returns the steps from a value.
    package func steps(from value: String) -> [Step] {
        origins.first { $0.from.hasSameBytes(as: value) }?.steps ?? []
    }

    /// Whether a record may begin with the value.
    package func begins(with value: String) -> Bool {
        initial?.contains { $0.hasSameBytes(as: value) } ?? true
    }

    /// The steps in words, for a schema's summary.
    package var words: String {
        let steps = origins.map { origin in
            let targets = origin.steps.map { step in
                step.by.map { "\(step.to) (by \(Accessor.list($0)))" } ?? step.to
            }
            return "\(origin.from) → \(targets.isEmpty ? "nothing" : targets.joined(separator: ", "))"
        }
        let beginning = initial.map { "begins with \($0.joined(separator: ", ")); " } ?? ""
        return "\(beginning)steps \(steps.joined(separator: "; "))"
    }
}

extension Accessor {
    /// Returns the names for a message; services pass every list, and are alone in an empty one.
    package static func list(_ accessors: Set<Accessor>) -> String {
        accessors.isEmpty ? "server" : accessors.map(\.rawValue).sorted().joined(separator: " or ")
    }
}
