/// How long a lane waits before it tries an unavailable store again.
package struct CommitTiming: Hashable, Sendable {
    /// After the first failure; doubled with each further one.
    package var retryFirst: Duration = .milliseconds(50)
    /// The longest wait.
    package var retryMax: Duration = .seconds(2)

    package init() {}

    /// The wait after the given number of failures in a row, from 1.
    func wait(afterFailures failures: Int) -> Duration {
        min(retryMax, retryFirst * (1 << min(max(failures - 1, 0), 16)))
    }
}
