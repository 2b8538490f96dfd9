/// What a test hears of the kit.
public struct TestKitError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What to branch on.
    public enum Code: Hashable, Sendable {
        /// There was no rest within `TestKitLimits.settleMax` of virtual time.
        case notSettled
        /// A client's copy is not what the server has.
        case diverged
        /// A fault names something that does not exist, or the server refused what the kit wrote for it.
        case misused
        /// The system cannot be told where tasks run; iOS 18, macOS 15 and Linux can.
        case unsupported
    }

    /// What kind of failure it is.
    public let code: Code
    /// Sentences for the test's report.
    public let description: String

    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}

/// Bounds of a kit.
public struct TestKitLimits: Hashable, Sendable {
    /// The longest virtual time that `settle()` lets pass.
    public var settleMax: Duration = .seconds(600)
    /// Differences that `expectConverged()` names.
    public var differencesMax = 10

    public init() {}
}
