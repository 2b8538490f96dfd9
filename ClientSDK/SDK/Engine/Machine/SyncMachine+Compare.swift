import TidemarkModel
import TidemarkWire

/// The state of the comparison of the copy with the server: one question at a time, while nothing else is
/// requested.
struct CompareLane: Sendable {
    /// True when the app asked for a comparison, or the copy has gone back.
    var isAsked = false
    /// True while the comparison replaces filling: the copy came back from below the horizon.
    var isBehind = false
    /// The number of wrong records that were not reported to the server yet.
    var untold: Int64 = 0
    /// True while the database looks for the next question.
    var isLoading = false
    /// The question that the server has not answered.
    var request: CompareRequest?
    /// The time at which the database is asked again whether a comparison is due.
    var due: Milliseconds = 0

    /// Forgets what will not be answered any more.
    mutating func disconnected() {
        // An interrupted comparison continues on the next connection.
        if request != nil { due = 0 }
        (isLoading, isBehind, request) = (false, false, nil)
    }
}

extension SyncMachine {
    /// Looks for something to compare, once nothing else is to come.
    mutating func compare(now: Milliseconds, _ effects: inout [SyncEffect]) {
        guard isLive, !comparing.isLoading, comparing.request == nil, pages.isEmpty, !isLoadingPages,
            pagesPausedUntil == 0
        else { return }
        guard now >= comparing.due || comparing.isAsked else { return }
        effects.append(.loadComparison(isAsked: comparing.isAsked))
        comparing.isAsked = false
        comparing.isLoading = true
        comparing.due = now + timing.compareEvery
    }

    /// Sends the question that the database found, if there is one.
    ///
    /// - Parameter isBehind: true when the comparison replaces filling, and is not complete.
    mutating func ask(_ request: CompareRequest?, isBehind: Bool, now: Milliseconds, _ effects: inout [SyncEffect]) {
        comparing.isLoading = false
        comparing.isBehind = isBehind && isStreaming
        guard isStreaming else { return }
        guard var request else {
            // Something has to be fetched first.
            if isBehind { comparing.due = now + timing.compareRetry }
            return
        }
        request.id = nextRequest
        nextRequest += 1
        comparing.request = request
        effects.append(.send(ClientMessage.compare(request).encode()))
    }

    /// - Returns: false when the answer does not match the question.
    mutating func take(_ answer: CompareAnswer, now: Milliseconds, _ effects: inout [SyncEffect]) -> Bool {
        // An answer to a question that was dropped with its grant.
        guard let request = comparing.request, request.id == answer.id else { return true }
        guard answer.answers(request) else { return false }
        comparing.request = nil
        comparing.due = now
        effects.append(.applyComparison(answer, to: request))
        if request.lists { fill(now: now, &effects) }
        return true
    }

    /// Reports wrong records to the server, so that its operator is informed.
    mutating func found(wrong records: Int, _ effects: inout [SyncEffect]) {
        comparing.untold += Int64(records)
        guard isStreaming, comparing.untold > 0 else { return }
        effects.append(.send(ClientMessage.ack(Ack(frames: ackedFrames, diverged: comparing.untold)).encode()))
        comparing.untold = 0
    }

    /// - Returns: false when the error is not about the comparison.
    mutating func refuseComparison(_ error: ErrorMessage, now: Milliseconds, _ effects: inout [SyncEffect]) -> Bool {
        guard let request = comparing.request, request.id == error.request else { return false }
        comparing.request = nil
        if error.code == .forbidden || error.code == .tooLarge {
            comparing.due = now
            effects.append(.dropComparison(request))
            // What cannot be compared is filled by pages where that is needed.
            if comparing.isBehind { fill(now: now, &effects) }
        } else {
            comparing.due = now + min(max(timing.pauseMax / 10, error.retryAfter ?? 0), timing.pauseMax)
        }
        return true
    }
}

extension CompareLane: RecordedMembers {
    mutating func members(_ all: inout MachineMembers) {
        all.member("isAsked", &isAsked)
        all.member("isBehind", &isBehind)
        all.member("untold", &untold)
        all.member("isLoading", &isLoading)
        all.member("request", &request)
        all.member("due", &due)
    }
}
