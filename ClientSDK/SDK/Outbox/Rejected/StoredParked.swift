package import TidemarkModel

/// A transaction that was refused for good, with everything needed to show it, change it or send it again.
package struct StoredParked: Hashable, Sendable {
    package let transaction: Transaction
    package let rejection: Rejection
    /// The time at which this device received the refusal.
    package let parked: Milliseconds
}
