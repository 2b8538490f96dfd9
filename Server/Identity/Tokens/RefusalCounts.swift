import TidemarkLock

/// The number of refused tokens, by reason.
package final class RefusalCounts: Sendable {
    /// The label of a token that could not be judged because keys were unavailable.
    package static let unavailable = "keys_unavailable"

    private let counts = Lock<[String: Int]>([:])

    package init() {}

    /// The counts of all labels since the start.
    package var all: [String: Int] { counts.withLock { $0 } }

    /// Counts one refusal.
    package func note(_ label: String) { counts.withLock { $0[label, default: 0] += 1 } }
}
