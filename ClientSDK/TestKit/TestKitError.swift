/// An error of the kit.
public struct TestKitError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of failure, to branch on.
    public enum Code: Hashable, Sendable {
        /// The kit was not at rest within `TestKitLimits.maxSettle` of virtual time.
        case notSettled
        /// A client's copy differs from the server's data.
        case diverged
        /// A fault names something that does not exist, or the server refused the kit's write for it.
        case misused
        /// The system does not let the kit choose where tasks run; iOS 18, macOS 15 and Linux do.
        case unsupported
    }

    /// The kind of failure.
    public let code: Code
    /// The sentences for the test's report.
    public let description: String

    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}

/// The bounds of a kit.
public struct TestKitLimits: Hashable, Sendable {
    /// The longest virtual time that `settle()` lets pass.
    public var maxSettle: Duration = .seconds(600)
    /// The most differences that `expectConverged()` names.
    public var maxDifferences = 10

    public init() {}
}
