package import TidemarkModel

/// Bounds and periods of accounts, which an operator may want to move.
package struct AccountLimits: Sendable {
    /// What a hash costs.
    package var cost = ScryptCost.usual
    /// Hashes at once, each with its memory.
    package var hashesAtOnce = 2
    /// Hashes that wait; one more is refused.
    package var hashesWaitingMax = 32
    /// Seconds that an access token lives.
    package var tokenSeconds = 900
    /// Milliseconds after which a device that nobody used has to log in again.
    package var idleMax: Milliseconds = 90 * 86_400_000
    /// Milliseconds for which a token that sets another password counts.
    package var resetLifetime: Milliseconds = 3_600_000
    /// Requests for another password that wait for the hook.
    package var resetsWaitingMax = 64
    /// Between two looks for devices that nobody used.
    package var sweepEvery: Duration = .seconds(21_600)
    /// How often who may call.
    package var rates = AccountRates()

    package init() {}
}
