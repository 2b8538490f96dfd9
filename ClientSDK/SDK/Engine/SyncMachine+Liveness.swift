import TidemarkModel
import TidemarkWire

/// Connections that end without a word, and answers that do not come.
extension SyncMachine {
    /// Judges the connection, and gives it up when it carries nothing any more.
    mutating func watchLink(now: Milliseconds, _ effects: inout [SyncEffect]) {
        guard isStreaming else { return }
        switch watch.look(now: now) {
        case .nothing: break
        case .probe: probe(&effects)
        case .silent: giveUp(SyncFailure(.serverSilent, "the server says nothing any more"), now: now, &effects)
        case .unanswered:
            giveUp(SyncFailure(.unanswered, "the server does not answer what it is asked"), now: now, &effects)
        }
    }

    /// Asks for a sign of life: every server of this version answers this at once, and it changes nothing.
    func probe(_ effects: inout [SyncEffect]) {
        effects.append(.send(ClientMessage.auth(Auth(token: token)).encode()))
    }

    /// Notes what the server owes after an event.
    mutating func noteOwed(now: Milliseconds) {
        guard isStreaming else { return }
        let isOwing = !pushes.isEmpty || !pages.isEmpty || !histories.isEmpty || !isConsistent
        watch.owes(isOwing ? pushes.reduce(0) { $0 + $1.bytes } : nil, now: now)
    }

    /// The server came nearer to giving what it owes, or a round nearer to its end.
    mutating func progressed(now: Milliseconds) {
        watch.progressed(now: now)
        progressedAt = now
    }

    private mutating func giveUp(_ failure: SyncFailure, now: Milliseconds, _ effects: inout [SyncEffect]) {
        effects.append(.close(.normal))
        strike(failure.detail, isAnswer: false, now: now, &effects)
        retry(failure, now: now, &effects)
    }
}
