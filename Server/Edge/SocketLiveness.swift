import NIOCore

/// Says when a socket is pinged, given up, or cut: a pure machine over the times of what happened.
struct SocketLiveness {
    enum Verdict: Equatable {
        case nothing
        case ping
        /// Nothing was heard of the peer for too long.
        case closeSilent
        /// A graceful shutdown has waited for the owner long enough.
        case closeDrained
        /// The close handshake takes too long.
        case cut
    }

    enum Phase: Equatable {
        case open
        case draining(since: NIODeadline)
        /// Our close frame is out; messages are dropped until the peer's comes.
        case closing(since: NIODeadline)
    }

    private(set) var phase = Phase.open
    private var lastHeard: NIODeadline
    private var lastPing: NIODeadline
    private var minuteStart: NIODeadline
    private var controlsThisMinute = 0

    init(now: NIODeadline) {
        lastHeard = now
        lastPing = now
        minuteStart = now
    }

    var isClosing: Bool {
        if case .closing = phase { true } else { false }
    }

    mutating func heard(at now: NIODeadline) { lastHeard = now }

    /// Counts a ping or pong of the peer; `false` when it is one too many.
    mutating func countControl(at now: NIODeadline, _ limits: EdgeLimits) -> Bool {
        if now - minuteStart >= .minutes(1) {
            minuteStart = now
            controlsThisMinute = 0
        }
        controlsThisMinute += 1
        return controlsThisMinute <= limits.controlFramesPerMinuteMax
    }

    mutating func drain(at now: NIODeadline) {
        if phase == .open { phase = .draining(since: now) }
    }

    /// `false` when the socket was closing already.
    mutating func close(at now: NIODeadline) -> Bool {
        guard !isClosing else { return false }
        phase = .closing(since: now)
        return true
    }

    mutating func sweep(at now: NIODeadline, _ limits: EdgeLimits) -> Verdict {
        switch phase {
        case .closing(let since):
            return now - since >= TimeAmount(limits.closeDeadline) ? .cut : .nothing
        case .draining(let since) where now - since >= TimeAmount(limits.drainDeadline):
            return .closeDrained
        case .draining, .open:
            if now - lastHeard >= TimeAmount(limits.silenceMax) { return .closeSilent }
            guard now - lastPing >= TimeAmount(limits.pingEvery) else { return .nothing }
            lastPing = now
            return .ping
        }
    }
}
