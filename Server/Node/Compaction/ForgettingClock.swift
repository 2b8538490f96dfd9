import TidemarkLock
package import TidemarkModel
package import TidemarkStore

/// The clock by which a server forgets old data. It follows the wall clock, but is never ahead of the database's own
/// clock, and runs at most ``speed`` times as fast as the process (R-160; COMPACTION.md, "Clocks"). A pure value.
///
/// After the wall clock has jumped ahead, by a fault or because the server was off, uptime alone makes up the lag.
package struct ForgettingClock: Sendable {
    /// The greatest speed. A server that is up for half an hour a day keeps up; one that is up for longer makes up what
    /// it missed.
    package static let speed: Int64 = 48

    /// The outcome of one look at all clocks.
    package struct Look: Hashable, Sendable {
        /// The time by which to forget.
        package var time: Milliseconds
        /// Milliseconds that the wall clock is ahead of it.
        package var lag: Milliseconds

        /// True when the answer has changed, or an hour after the last report of the same distrust.
        package var isNews: Bool

        /// False while the wall clock is ahead of all evidence: nothing may be forgotten then.
        package var isTrusted: Bool { lag <= ClockWitness.leadMax }
    }

    /// The latest time that it has shown.
    private var reached: Milliseconds?
    /// The process's uptime at the last look.
    private var uptime: Duration = .zero
    /// The uptime at which distrust was last reported; `nil` while the wall clock is trusted.
    private var reported: Duration?

    package init() {}

    /// Looks at all clocks.
    ///
    /// - Parameters:
    ///   - wall: the server's clock, in milliseconds since 1970.
    ///   - uptime: how long the process has run, by a clock that cannot be set.
    package mutating func look(wall: Milliseconds, _ witness: ClockWitness, uptime: Duration) -> Look {
        let elapsed = max(0, (uptime - self.uptime).milliseconds)
        self.uptime = max(uptime, self.uptime)
        let begun = [reached, witness.reached].compactMap(\.self).max()
        let (run, overflows) = elapsed.multipliedReportingOverflow(by: Self.speed)
        let most = begun.map { $0.advanced(byClamped: overflows ? .max : run) } ?? .max
        let time = min(wall, witness.clock ?? .max, most)
        reached = max(time, begun ?? time)
        let (lag, isBeyond) = wall.subtractingReportingOverflow(time)
        var look = Look(time: time, lag: isBeyond ? .max : lag, isNews: false)
        if look.isTrusted {
            look.isNews = reported != nil
            reported = nil
        } else {
            look.isNews = reported.map { uptime >= $0 + .seconds(3_600) } ?? true
            if look.isNews { reported = uptime }
        }
        return look
    }
}

/// The clock of one process. Any thread.
package final class ForgettingTime: Sendable {
    private let state = Lock((clock: ForgettingClock(), time: Milliseconds(0)))
    private let uptime: @Sendable () -> Duration

    /// - Parameter clock: a clock that cannot be set.
    package init(_ clock: any Clock<Duration>) { uptime = Self.uptime(clock) }

    /// The time by which to forget, as of the last look; 0, which forgets nothing, before the first look.
    package var now: Milliseconds { state.withLock { $0.time } }

    /// Looks at all clocks.
    func look(wall: Milliseconds, _ witness: ClockWitness) -> ForgettingClock.Look {
        state.withLock { state in
            let look = state.clock.look(wall: wall, witness, uptime: uptime())
            state.time = look.time
            return look
        }
    }

    private static func uptime(_ clock: some Clock<Duration>) -> @Sendable () -> Duration {
        let start = clock.now
        return { start.duration(to: clock.now) }
    }
}
