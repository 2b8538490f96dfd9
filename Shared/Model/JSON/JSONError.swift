/// Why bytes are not acceptable JSON, and where.
package struct JSONError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong, as a phrase: `unexpected byte`, `nested deeper than 32`.
    package let reason: String
    /// Offset of the offending byte.
    package let offset: Int

    package var description: String { "\(reason) at byte \(offset)" }
}

/// Bounds on what the reader accepts; protocol limits of section "Limits".
package struct JSONLimits: Sendable {
    /// Nesting of arrays and objects.
    package var depthMax = 32
    /// Members of one object.
    package var keysMax = 512
    /// Elements of one array.
    package var elementsMax = 65_536
    /// Characters of one number.
    package var numberLengthMax = 64

    package init() {}
}
