import NIOCore

/// The state of an HTTP connection, and its deadline in that state: a pure machine.
struct HTTPConnectionState {
    private enum Waiting {
        case forFirstHead
        case forNextHead
        case forBody
        case forAnswer
        case forPeerToLeave
    }

    private var waiting = Waiting.forFirstHead
    private var since: NIODeadline
    private var bodyBytes = 0
    private var bodyBytesMax = 0
    /// The time at which the last piece of the body arrived.
    private var touched: NIODeadline
    /// Bytes of the answer that is being written.
    private var answerBytes = 0
    /// Requests whose answer is not complete; pipelining makes it more than one.
    private(set) var unanswered = 0
    private(set) var isFirstRequest = true
    private var isQuiescing = false
    let limits: EdgeLimits

    init(now: NIODeadline, limits: EdgeLimits) {
        since = now
        touched = now
        self.limits = limits
    }

    /// The time at which the connection is closed, unless something happens first.
    var deadline: NIODeadline {
        switch waiting {
        case .forFirstHead: since + TimeAmount(limits.headDeadline)
        case .forNextHead: since + TimeAmount(limits.keepAliveIdleMax)
        case .forBody: min(since + time(for: bodyBytes), touched) + TimeAmount(limits.bodyDeadline)
        case .forAnswer: since + TimeAmount(limits.answerDeadline) + time(for: answerBytes)
        case .forPeerToLeave: since + TimeAmount(limits.closeDeadline)
        }
    }

    /// Returns the time by which transferred bytes extend a slow peer's deadline.
    private func time(for bytes: Int) -> TimeAmount {
        .milliseconds(Int64(bytes) * 1_000 / Int64(max(1, limits.bytesPerSecondMin)))
    }

    /// True when the request has arrived completely, and its answer is not complete.
    var isAnswering: Bool { waiting == .forAnswer }

    var isRefused: Bool { waiting == .forPeerToLeave }

    /// Whether the answer that is being written must say that it is the last.
    var isLastAnswer: Bool { isQuiescing && unanswered == 1 && waiting == .forAnswer }

    /// Begins a request.
    ///
    /// - Parameter bodyBytesMax: the bound of this request's body; if `nil`, the limits' own.
    mutating func head(at now: NIODeadline, bodyBytesMax: Int? = nil) {
        isFirstRequest = waiting == .forFirstHead
        unanswered += 1
        bodyBytes = 0
        self.bodyBytesMax = bodyBytesMax ?? limits.requestBodyBytesMax
        touched = now
        wait(.forBody, now)
    }

    /// `false` when the body is longer than the limit.
    mutating func body(_ count: Int, at now: NIODeadline) -> Bool {
        bodyBytes += count
        touched = now
        return bodyBytes <= bodyBytesMax
    }

    mutating func answer(_ count: Int) { answerBytes += count }

    /// Whether the connection closes here: it is shutting down, and the answer was complete before the request's end.
    mutating func requestEnd(at now: NIODeadline) -> Bool {
        wait(unanswered > 0 ? .forAnswer : .forNextHead, now)
        return isQuiescing && unanswered == 0
    }

    /// Whether the connection closes after this answer.
    mutating func answerEnd(at now: NIODeadline) -> Bool {
        unanswered = max(0, unanswered - 1)
        answerBytes = 0
        guard waiting == .forAnswer else { return false }
        wait(unanswered > 0 ? .forAnswer : .forNextHead, now)
        return isQuiescing && unanswered == 0
    }

    mutating func refused(at now: NIODeadline) { wait(.forPeerToLeave, now) }

    /// Whether the connection closes at once, being idle; otherwise it closes after the last answer.
    mutating func quiesce() -> Bool {
        isQuiescing = true
        return unanswered == 0
    }

    private mutating func wait(_ next: Waiting, _ now: NIODeadline) {
        waiting = next
        since = now
    }
}
