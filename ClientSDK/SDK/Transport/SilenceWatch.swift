/// Decides whether the server is still at the other end of a socket: when to ask it for a sign of life, when to send
/// one, and when to give it up. Pure: the time, since any fixed moment, is an argument.
///
/// While the app takes no messages, the socket is not read, and a sign of life would go unnoticed. Then no server is
/// given up, and this side sends signs of life instead, since it answers no ping.
package struct SilenceWatch: Hashable, Sendable {
    /// The action to take.
    package enum Verdict: Hashable, Sendable {
        /// Look again when it is due.
        case nothing
        /// Send a ping.
        case ask
        /// Nothing is read: send a frame that needs no answer.
        case showLife
        /// Nothing was received for too long: end the connection.
        case silent
    }

    /// The times and bounds of the watch.
    package struct Timing: Hashable, Sendable {
        /// The silence after which a ping is sent; `nil` where the server's own pings can be noticed.
        package var pingAfter: Duration?
        /// The silence after which a server is given up. It pings every 25 s.
        package var silenceMax: Duration
        /// The interval of this side's signs of life while it reads nothing.
        package var signOfLifeEvery: Duration
        /// A look that is later than this was slept through. The answer may be among the unread messages, so the wait
        /// begins anew.
        package var lateMax: Duration = .seconds(2)

        package init(pingAfter: Duration?, silenceMax: Duration, signOfLifeEvery: Duration) {
            self.pingAfter = pingAfter
            self.silenceMax = silenceMax
            self.signOfLifeEvery = signOfLifeEvery
        }
    }

    private let timing: Timing
    private var heardAt: Duration
    private var isAsked = false
    /// The time of this side's last sign of life while reading is held back; `nil` while it reads.
    private var shownAt: Duration?

    package init(_ timing: Timing, now: Duration) {
        self.timing = timing
        heardAt = now
    }

    /// Notes that something was received from the server.
    package mutating func heard(now: Duration) {
        heardAt = now
        isAsked = false
    }

    /// Notes that nothing is read from now on.
    package mutating func heldBack(now: Duration) { shownAt = shownAt ?? now }

    /// Notes that the socket is read again.
    package mutating func resumed(now: Duration) {
        shownAt = nil
        heard(now: now)
    }

    /// The time of the next look.
    package var due: Duration {
        if let shownAt { return shownAt + timing.signOfLifeEvery }
        if let pingAfter = timing.pingAfter, !isAsked { return heardAt + pingAfter }
        return heardAt + timing.silenceMax
    }

    /// Judges the connection.
    package mutating func look(now: Duration) -> Verdict {
        let due = due
        guard now >= due else { return .nothing }
        if shownAt != nil {
            shownAt = now
            return .showLife
        }
        let isLate = now > due + timing.lateMax
        if let pingAfter = timing.pingAfter, !isAsked || isLate {
            if isLate { heardAt = now - pingAfter }
            isAsked = true
            return .ask
        }
        guard !isLate else {
            heardAt = now
            return .nothing
        }
        return .silent
    }
}
