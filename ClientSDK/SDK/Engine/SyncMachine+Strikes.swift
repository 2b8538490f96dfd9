import TidemarkModel
import TidemarkWire

/// Transactions that reach the server and are not answered. One that could not be sent costs nothing.
extension SyncMachine {
    /// Notes that the first transaction which is not settled was sent and got no answer; after too many in a row it is
    /// withheld, with what stands behind it in its scopes.
    mutating func strike(_ reason: String, _ effects: inout [SyncEffect]) {
        guard !pushes.isEmpty else { return }
        let head = settledThrough + 1
        strikes = (head, strikes.number == head ? strikes.count + 1 : 1)
        guard strikes.count >= timing.attemptsMax else { return }
        strikes = (0, 0)
        effects.append(.withhold(head, reason: reason))
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
}
