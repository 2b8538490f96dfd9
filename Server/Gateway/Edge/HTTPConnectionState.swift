import NIOCore

/// Where an HTTP connection stands, and until when it may stay there: a pure machine.
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
    /// Requests whose answer is not complete; pipelining makes it more than one.
    private(set) var unanswered = 0
    private(set) var isFirstRequest = true
    private var isQuiescing = false
    private let limits: EdgeLimits

    init(now: NIODeadline, limits: EdgeLimits) {
        since = now
        self.limits = limits
    }

    /// When the connection is closed, unless something happens first.
    var deadline: NIODeadline {
        let span =
            switch waiting {
            case .forFirstHead: limits.headDeadline
            case .forNextHead: limits.keepAliveIdleMax
            case .forBody: limits.bodyDeadline
            case .forAnswer: limits.answerDeadline
            case .forPeerToLeave: limits.closeDeadline
            }
        return since + TimeAmount(span)
    }

    var isRefused: Bool { waiting == .forPeerToLeave }

    /// Whether the answer that is being written must say that it is the last.
    var isLastAnswer: Bool { isQuiescing && unanswered == 1 && waiting == .forAnswer }

    mutating func head(at now: NIODeadline) {
        isFirstRequest = waiting == .forFirstHead
        unanswered += 1
        bodyBytes = 0
        wait(.forBody, now)
    }

    /// `false` when the body is longer than the limit.
    mutating func body(_ count: Int) -> Bool {
        bodyBytes += count
        return bodyBytes <= limits.requestBodyBytesMax
    }

    /// Whether the connection closes here: shutting down, and the answer came before the request's end.
    mutating func requestEnd(at now: NIODeadline) -> Bool {
        wait(unanswered > 0 ? .forAnswer : .forNextHead, now)
        return isQuiescing && unanswered == 0
    }

    /// Whether the connection closes after this answer.
    mutating func answerEnd(at now: NIODeadline) -> Bool {
        unanswered = max(0, unanswered - 1)
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
