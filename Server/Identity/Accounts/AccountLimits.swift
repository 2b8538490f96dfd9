package import TidemarkModel

/// Bounds and periods of accounts that an operator may want to change.
package struct AccountLimits: Sendable {
    /// The cost of a hash.
    package var cost = ScryptCost.usual
    /// Hashes at once, each with its memory.
    package var hashesAtOnce = 2
    /// Hashes that wait; one more is refused.
    package var hashesWaitingMax = 32
    /// The lifetime of an access token, in seconds.
    package var tokenSeconds = 900
    /// Milliseconds after which an unused device must log in again.
    package var idleMax: Milliseconds = 90 * 86_400_000
    /// Milliseconds for which a reset token is valid.
    package var resetLifetime: Milliseconds = 3_600_000
    /// Password resets that wait for the hook.
    package var resetsWaitingMax = 64
    /// The interval between two looks for unused devices.
    package var sweepEvery: Duration = .seconds(21_600)
    /// The rates of calls.
    package var rates = AccountRates()

    package init() {}
}
