import TidemarkModel
import TidemarkWire

/// Transactions that reach the server and are not answered. One that could not be sent costs nothing.
extension SyncMachine {
    /// Notes that the first unsettled transaction was sent without success. After too many failures in a row it is
    /// withheld, together with the transactions behind it in its scopes.
    ///
    /// - Parameter isAnswer: true when the server's answer is about this transaction. False when it was silent, or
    ///   cannot serve anyone: a passing outage.
    mutating func strike(_ reason: String, isAnswer: Bool, now: Milliseconds, _ effects: inout [SyncEffect]) {
        guard !pushes.isEmpty else { return }
        let head = settledThrough + 1
        let before = strikes.number == head ? strikes : (number: head, count: 0, answers: 0)
        strikes = (head, before.count + 1, before.answers + (isAnswer ? 1 : 0))
        guard strikes.count >= timing.attemptsMax else { return }
        let isAnswered = strikes.answers == strikes.count
        effects.append(.withhold(head, reason: reason, isAnswered: isAnswered))
        if !isAnswered { releases.withheld(now: now, timing) }
        strikes = (0, 0, 0)
    }

    /// Sends again, when it is time, what was withheld for silence alone: a connection that lasts is no reason to keep
    /// it back.
    mutating func release(now: Milliseconds, _ effects: inout [SyncEffect]) {
        guard releases.isTime(now: now, timing) else { return }
        isDrained = false
        effects.append(.releaseWithheld)
    }

    /// True while the next transaction to settle is one that was sent without an answer before.
    var isSuspicious: Bool { strikes.count > 0 && strikes.number == settledThrough + 1 }
}

extension CloseCode {
    /// True when the messages sent last may have caused the end of the connection.
    var isAnswerless: Bool {
        switch self {
        case .protocolViolation, .tooBig, .timeout, .unavailable: true
        case .normal, .goingAway, .unauthenticated, .workspaceForbidden, .versionUnsupported, .appTooOld,
            .clientUnknown,
            .clientForked, .connectedElsewhere, .rateLimited:
            false
        }
    }

    /// True when the server says that the messages sent last caused it.
    var isAnswerOfFailure: Bool { self == .protocolViolation || self == .tooBig }
}

/// The times at which transactions withheld for silence alone are sent again on a connection that lasts. The first is
/// after half a minute, and the wait doubles each time: the transaction itself may cause the silence, but nothing may
/// be left unsent.
struct Releases: Sendable {
    /// The number of withholdings in a row.
    private var count = 0
    /// The number of releases since the last withholding.
    private var tries = 0
    private var last: Milliseconds = 0
    /// The time of the next release; `nil` while nothing was withheld.
    private(set) var due: Milliseconds?

    mutating func withheld(now: Milliseconds, _ timing: EngineTiming) {
        let isInVain = count > 0 && now - last <= 2 * pause(timing) + timing.releaseApart
        (count, tries, last) = (isInVain ? count + 1 : 1, 0, now)
        due = now + pause(timing)
    }

    /// Moves the next release: a new connection sends the transactions again by itself.
    mutating func connected(now: Milliseconds, _ timing: EngineTiming) { if due != nil { due = now + pause(timing) } }

    mutating func isTime(now: Milliseconds, _ timing: EngineTiming) -> Bool {
        guard let due, now >= due else { return false }
        tries += 1
        self.due = now + pause(timing)
        return true
    }

    private func pause(_ timing: EngineTiming) -> Int64 {
        min(timing.backoffMax << Int64(min(max(0, count - 1 + tries), 16)), timing.releaseMax)
    }
}

extension Releases: RecordedMembers {
    mutating func members(_ all: inout MachineMembers) {
        all.member("count", &count)
        all.member("tries", &tries)
        all.member("last", &last)
        all.member("due", &due)
    }
}
