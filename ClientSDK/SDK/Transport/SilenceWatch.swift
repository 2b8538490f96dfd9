/// Whether the server is still at the other end of a socket: when to ask it for a sign of life, when to show it one, and when
/// to give it up. Pure: the time, since whatever moment, is an argument.
///
/// While the app takes no messages, none is read, and what is not read is not heard: then nobody is given up, and this side
/// shows itself instead, since it answers no ping.
package struct SilenceWatch: Hashable, Sendable {
    /// What to do.
    package enum Verdict: Hashable, Sendable {
        /// Look again when it is due.
        case nothing
        /// Send a ping.
        case ask
        /// Nothing is read: send a frame that wants no answer.
        case showLife
        /// Nothing was heard for too long: end the connection.
        case silent
    }

    /// How patient it is.
    package struct Timing: Hashable, Sendable {
        /// A ping is sent when nothing was heard for so long; `nil` where the server's own pings are heard.
        package var pingAfter: Duration?
        /// A server of which nothing was heard for so long is given up. It pings every 25 s.
        package var silenceMax: Duration
        /// So often this side shows itself while it reads nothing.
        package var signOfLifeEvery: Duration
        /// A look that comes so much too late was slept through: what it waits for may stand behind it, and it waits anew.
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
    /// When this side last showed itself; `nil` while it reads.
    private var shownAt: Duration?

    package init(_ timing: Timing, now: Duration) {
        self.timing = timing
        heardAt = now
    }

    /// Anything came from the server.
    package mutating func heard(now: Duration) {
        heardAt = now
        isAsked = false
    }

    /// Nothing is read from now on.
    package mutating func heldBack(now: Duration) { shownAt = shownAt ?? now }

    /// It is read again.
    package mutating func resumed(now: Duration) {
        shownAt = nil
        heard(now: now)
    }

    /// When to look.
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
