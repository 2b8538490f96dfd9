import Synchronization
package import TidemarkModel

/// How many tokens were refused, and why: for whoever shows figures, and so that a flood of bad tokens is no flood of lines.
package final class RefusalCounts: Sendable {
    /// The label of a token that could not be judged for want of keys.
    package static let unavailable = "keys_unavailable"
    private static let linesPerSecondMax = 20

    private struct State {
        var counts: [String: Int] = [:]
        var second: Int64 = 0
        var lines = 0
        var leftOut = 0
    }

    private let state = Mutex(State())

    package init() {}

    /// Of each label since the start.
    package var all: [String: Int] { state.withLock { $0.counts } }

    /// Counts one.
    ///
    /// - Returns: how many were not shown before this one; `nil` for one that is not to be shown either.
    package func note(_ label: String, now: Milliseconds) -> Int? {
        state.withLock { state in
            state.counts[label, default: 0] += 1
            if state.second != now / 1_000 { (state.second, state.lines) = (now / 1_000, 0) }
            guard state.lines < Self.linesPerSecondMax else {
                state.leftOut += 1
                return nil
            }
            state.lines += 1
            defer { state.leftOut = 0 }
            return state.leftOut
        }
    }
}
