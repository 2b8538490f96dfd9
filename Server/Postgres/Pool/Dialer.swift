import TidemarkLock

/// The side thread that makes the pool's connections, one after the other, pausing longer after each failure.
final class Dialer: Sendable {
    private struct Orders {
        var wanted = 0
        /// A connection broke soon after it was made: pause before the next, or a crashing server meets a storm.
        var mustPause = false
        /// A connection broke after a long good life: past failures no longer matter.
        var mayReset = false
    }

    private let configuration: PostgresConfiguration
    private let orders = Lock(Orders())
    private let signal: WakeSignal

    init(_ configuration: PostgresConfiguration) throws(PostgresError) {
        self.configuration = configuration
        signal = try WakeSignal()
    }

    /// Asks for further connections.
    func order(_ count: Int) {
        orders.withLock { $0.wanted += count }
        signal.wake()
    }

    /// Asks for a replacement of a connection that broke by itself.
    func replace(livedFor lifetime: Duration) {
        orders.withLock { orders in
            orders.wanted += 1
            if lifetime >= configuration.healthyLifetime { orders.mayReset = true } else { orders.mustPause = true }
        }
        signal.wake()
    }

    /// Ends the thread. An attempt in progress is dropped, and a finished connection is no longer handed over.
    func stop() {
        signal.stop()
    }

    /// The thread's body. `delivered` and `failed` are called on it.
    func run(delivered: (LibpqConnection) -> Void, failed: (PostgresError) -> Void) {
        var versions = ServerVersions()
        var backoff = Backoff(
            first: configuration.reconnectBackoffFirst, max: configuration.reconnectBackoffMax)
        while !signal.isStopped {
            let (isWanted, mustPause) = orders.withLock { orders in
                defer { (orders.mayReset, orders.mustPause) = (false, false) }
                if orders.mayReset { backoff.reset() }
                return (orders.wanted > 0, orders.mustPause)
            }
            guard isWanted else {
                _ = signal.wait(until: nil)
                continue
            }
            if mustPause { pause(backoff.next(jitter: .random(in: 0...1))) }
            do {
                let connection = try Dial.connect(configuration, signal: signal)
                try versions.check(connection.serverVersion)
                orders.withLock { $0.wanted -= 1 }
                if !signal.isStopped { delivered(connection) }
            } catch {
                if signal.isStopped { return }
                orders.withLock { $0.mustPause = true }
                failed(error)
            }
        }
    }

    private func pause(_ duration: Duration) {
        let end = ContinuousClock.now + duration
        // A wake-up only brings further orders, which can wait as well.
        while signal.wait(until: end) == .woken {}
    }
}
