import TidemarkModel
import TidemarkWire

/// Where the comparison of the copy with the server stands: one question at a time, while nothing else is asked for.
struct CompareLane: Sendable {
    /// The server answers.
    var isAnswered = false
    /// The app asks for one, or the copy has gone back.
    var isAsked = false
    /// It stands in for filling: the copy came back from below the horizon.
    var isBehind = false
    /// Records that were found wrong and of which the server was not told.
    var untold: Int64 = 0
    /// The database is looking for the next question.
    var isLoading = false
    /// The question that the server has not answered.
    var request: CompareRequest?
    /// When the database is looked into again for whether it is time.
    var due: Milliseconds = 0

    /// What was asked for is not answered any more.
    mutating func disconnected() {
        // What was under way goes on with the next connection.
        if request != nil { due = 0 }
        (isAnswered, isLoading, isBehind, request) = (false, false, false, nil)
    }
}

extension SyncMachine {
    /// Looks for something to compare, once nothing else is to come.
    mutating func compare(now: Milliseconds, _ effects: inout [SyncEffect]) {
        guard isLive, comparing.isAnswered, !comparing.isLoading, comparing.request == nil, pages.isEmpty,
            !isLoadingPages, pagesPausedUntil == 0
        else { return }
        guard now >= comparing.due || comparing.isAsked else { return }
        effects.append(.loadComparison(isAsked: comparing.isAsked))
        comparing.isAsked = false
        comparing.isLoading = true
        comparing.due = now + timing.compareEvery
    }

    /// Asks what the database found, if it found something.
    ///
    /// - Parameter isBehind: the comparison stands in for filling, and is not over.
    mutating func ask(_ request: CompareRequest?, isBehind: Bool, now: Milliseconds, _ effects: inout [SyncEffect]) {
        comparing.isLoading = false
        comparing.isBehind = isBehind && isStreaming
        guard isStreaming else { return }
        guard var request else {
            // Something is to be fetched first.
            if isBehind { comparing.due = now + timing.compareRetry }
            return
        }
        request.id = nextRequest
        nextRequest += 1
        comparing.request = request
        effects.append(.send(ClientMessage.compare(request).encode()))
    }

    /// - Returns: false when it is no answer to what was asked.
    mutating func take(_ answer: CompareAnswer, now: Milliseconds, _ effects: inout [SyncEffect]) -> Bool {
        // One that was asked for on behalf of a grant that is gone.
        guard let request = comparing.request, request.id == answer.id else { return true }
        guard answer.answers(request) else { return false }
        comparing.request = nil
        comparing.due = now
        effects.append(.applyComparison(answer, to: request))
        if request.lists { fill(now: now, &effects) }
        return true
    }

    /// Tells the server what was wrong, so that whoever runs it hears of it.
    mutating func found(wrong records: Int, _ effects: inout [SyncEffect]) {
        comparing.untold += Int64(records)
        guard isStreaming, comparing.untold > 0 else { return }
        effects.append(.send(ClientMessage.ack(Ack(frames: ackedFrames, diverged: comparing.untold)).encode()))
        comparing.untold = 0
    }

    /// - Returns: false when the error is not about what is compared.
    mutating func refuseComparison(_ error: ErrorMessage, now: Milliseconds, _ effects: inout [SyncEffect]) -> Bool {
        guard let request = comparing.request, request.id == error.request else { return false }
        comparing.request = nil
        if error.code == .forbidden || error.code == .tooLarge {
            comparing.due = now
            effects.append(.dropComparison(request))
            // What cannot be compared is filled by pages where it has to be.
            if comparing.isBehind { fill(now: now, &effects) }
        } else {
            comparing.due = now + min(max(timing.pauseMax / 10, error.retryAfter ?? 0), timing.pauseMax)
        }
        return true
    }
}

extension CompareLane: RecordedMembers {
    mutating func members(_ all: inout MachineMembers) {
        all.member("isAnswered", &isAnswered)
        all.member("isAsked", &isAsked)
        all.member("isBehind", &isBehind)
        all.member("untold", &untold)
        all.member("isLoading", &isLoading)
        all.member("request", &request)
        all.member("due", &due)
    }
}
