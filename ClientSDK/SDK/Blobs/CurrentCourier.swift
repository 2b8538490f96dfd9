import TidemarkLock

/// The courier of the engine that a store runs; there is one at a time.
final class CurrentCourier: Sendable {
    private let courier = Lock<BlobCourier?>(nil)
    private let pauses = Lock(0)

    /// The courier; `nil` while no connection is requested.
    var current: BlobCourier? { courier.withLock { $0 } }

    /// Replaces the courier; the old one's engine ends it.
    func replace(with next: BlobCourier) { courier.withLock { $0 = next } }

    /// Removes a courier whose engine has ended.
    func ended(_ ended: BlobCourier) { courier.withLock { if $0 === ended { $0 = nil } } }

    /// Notes that there may be something to send; without a courier, the next one finds it.
    func wrote() { current?.wrote() }

    /// True when a watched blob waits for the next attempt.
    var isLookedAt: Bool { pauses.withLock { $0 > 0 } }

    /// Counts a wait for the next attempt.
    func pausing(_ pause: () async throws -> Void) async rethrows {
        pauses.withLock { $0 += 1 }
        defer { pauses.withLock { $0 -= 1 } }
        try await pause()
    }

    /// Waits until everything that can be sent now is sent.
    func round() async { await current?.round() }
}
