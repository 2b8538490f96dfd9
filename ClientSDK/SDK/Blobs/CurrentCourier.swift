import TidemarkLock

/// The courier of the engine that a store runs; one at a time.
final class CurrentCourier: Sendable {
    private let courier = Lock<BlobCourier?>(nil)
    private let pauses = Lock(0)

    /// `nil` while no connection is asked for.
    var current: BlobCourier? { courier.withLock { $0 } }

    /// Takes the place of another one, whose engine ends it.
    func replace(with next: BlobCourier) { courier.withLock { $0 = next } }

    /// Its engine runs no more.
    func ended(_ ended: BlobCourier) { courier.withLock { if $0 === ended { $0 = nil } } }

    /// There is something to send; without a courier, the next one finds it.
    func wrote() { current?.wrote() }

    /// Somebody who looks at a blob waits for the next attempt.
    var isLookedAt: Bool { pauses.withLock { $0 > 0 } }

    /// Counts somebody who waits for the next attempt.
    func pausing(_ pause: () async throws -> Void) async rethrows {
        pauses.withLock { $0 += 1 }
        defer { pauses.withLock { $0 -= 1 } }
        try await pause()
    }

    /// Waits until all is sent that can be sent now.
    func round() async { await current?.round() }
}
