import TidemarkModel
import TidemarkWire

/// Transactions that reach the server and are not answered. One that could not be sent costs nothing.
extension SyncMachine {
    /// Notes that the first transaction which is not settled was sent and came to nothing; after too many in a row it is
    /// withheld, with what stands behind it in its scopes.
    ///
    /// - Parameter isAnswer: the server answered, and what it said is about this transaction; else it was silent, or cannot
    ///   serve anybody: a passing outage.
    mutating func strike(_ reason: String, isAnswer: Bool, _ effects: inout [SyncEffect]) {
        guard !pushes.isEmpty else { return }
        let head = settledThrough + 1
        let before = strikes.number == head ? strikes : (number: head, count: 0, answers: 0)
        strikes = (head, before.count + 1, before.answers + (isAnswer ? 1 : 0))
        guard strikes.count >= timing.attemptsMax else { return }
        effects.append(.withhold(head, reason: reason, isAnswered: strikes.answers == strikes.count))
        strikes = (0, 0, 0)
    }

    /// True while the next transaction to settle is one that was sent without an answer before.
    var isSuspicious: Bool { strikes.count > 0 && strikes.number == settledThrough + 1 }
}

extension CloseCode {
    /// True when the end of the connection may have been the doing of what was sent last.
    var isAnswerless: Bool {
        switch self {
        case .protocolViolation, .tooBig, .timeout, .unavailable: true
        case .normal, .goingAway, .unauthenticated, .workspaceForbidden, .versionUnsupported, .appTooOld,
            .clientUnknown,
            .clientForked, .connectedElsewhere, .rateLimited:
            false
        }
    }

    /// True when the server says that it was the doing of what was sent last.
    var isAnswerOfFailure: Bool { self == .protocolViolation || self == .tooBig }
}
