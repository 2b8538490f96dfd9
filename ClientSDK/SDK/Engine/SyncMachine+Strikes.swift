import TidemarkModel
import TidemarkWire

/// Transactions that reach the server and are not answered. One that could not be sent costs nothing.
extension SyncMachine {
    /// Notes that the first transaction which is not settled was sent and came to nothing; after too many in a row it is
    /// withheld, with what stands behind it in its scopes.
    ///
    /// - Parameter isAnswer: the server answered, and what it said is about this transaction; else it was silent, or cannot
    ///   serve anybody: a passing outage.
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

    /// Sends again what met only silence, when it is time: a connection that stays is no reason to keep it back.
    mutating func release(now: Milliseconds, _ effects: inout [SyncEffect]) {
        guard releases.isTime(now: now, timing) else { return }
        isDrained = false
        effects.append(.releaseWithheld)
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

/// The times at which transactions that were withheld for silence alone are sent again on a connection that stays: after half a
/// minute, and twice as long each time, since what is sent may be the very reason for the silence, and nothing may be left.
struct Releases: Sendable {
    /// Withholdings in a row.
    private var count = 0
    /// Releases since the last of them.
    private var tries = 0
    private var last: Milliseconds = 0
    /// `nil` while nothing was withheld.
    private(set) var due: Milliseconds?

    mutating func withheld(now: Milliseconds, _ timing: EngineTiming) {
        let isInVain = count > 0 && now - last <= 2 * pause(timing) + timing.releaseApart
        (count, tries, last) = (isInVain ? count + 1 : 1, 0, now)
        due = now + pause(timing)
    }

    /// A new connection sends it again by itself.
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
