import TidemarkLock

/// How many tokens were refused, and why.
package final class RefusalCounts: Sendable {
    /// The label of a token that could not be judged for want of keys.
    package static let unavailable = "keys_unavailable"

    private let counts = Lock<[String: Int]>([:])

    package init() {}

    /// Of each label since the start.
    package var all: [String: Int] { counts.withLock { $0 } }

    /// Counts one.
    package func note(_ label: String) { counts.withLock { $0[label, default: 0] += 1 } }
}
