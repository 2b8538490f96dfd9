/// A regular expression of the subset that `SCHEMA.md` lists (`"pattern"`).
///
///     try TextPattern("^[A-Z]{2}[0-9]+$").matches("AB17")   // true
///
/// It is found anywhere in a text unless it is anchored, as in JSON Schema. Matching follows all alternatives at once
/// (Thompson's construction), so its steps are bounded by the size of the program times the length of the text. No text
/// makes it slow, which matters because it runs where all writes of a workspace wait.
package struct TextPattern: Sendable {
    /// The pattern as the schema has it.
    package let source: String
    let program: PatternProgram

    /// - Throws: `PatternError` with the position of what is not supported.
    package init(_ source: String) throws(PatternError) {
        self.source = source
        program = try PatternProgram(PatternParser.parse(source))
    }

    /// The number of its parts: characters, classes, alternatives and repetitions, as often as they are repeated.
    package var size: Int { program.code.count - 1 }

    /// Returns whether the pattern is found in the text.
    package func matches(_ text: String) -> Bool {
        var steps = 0
        return matches(text, steps: &steps)
    }

    /// Returns whether the pattern is found in the text, and adds the steps that this took: at most ``stepsMax(_:)``.
    package func matches(_ text: String, steps: inout Int) -> Bool {
        var search = PatternSearch(program)
        defer { steps += search.steps }
        return search.finds(in: text)
    }

    /// The maximum number of steps for a text of this many Unicode scalars.
    package func stepsMax(_ scalars: Int) -> Int { 4 * (size + 1) * (scalars + 1) }
}

extension TextPattern: Hashable {
    package static func == (left: TextPattern, right: TextPattern) -> Bool {
        left.source.hasSameBytes(as: right.source)
    }

    package func hash(into hasher: inout Hasher) { source.hashBytes(into: &hasher) }
}

/// The reason why a pattern is refused.
package struct PatternError: Error, Hashable, CustomStringConvertible {
    /// The position in the pattern, in Unicode scalars from 1; `nil` if the pattern as a whole is refused.
    package let position: Int?
    package let reason: String

    init(at position: Int? = nil, _ reason: String) {
        self.position = position
        self.reason = reason
    }

    package var description: String { position.map { "at character \($0): \(reason)" } ?? reason }
}

/// The bounds of one pattern.
enum PatternLimits {
    /// Unicode scalars of a pattern.
    static let lengthMax = 1_000
    /// Instructions of a program.
    static let instructionsMax = 1_000
    /// The largest number in `{n,m}`.
    static let repetitionMax = 1_000
    /// Groups inside one another.
    static let depthMax = 32
}
