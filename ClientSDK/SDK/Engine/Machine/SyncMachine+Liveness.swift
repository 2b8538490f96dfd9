import TidemarkModel
import TidemarkWire

/// Connections that end unnoticed, and answers that do not arrive.
extension SyncMachine {
    /// Judges the connection, and gives it up when it carries no data any more.
    mutating func watchLink(now: Milliseconds, _ effects: inout [SyncEffect]) {
        guard isStreaming else { return }
        switch watch.look(now: now) {
        case .nothing: break
        case .probe: probe(&effects)
        case .silent: giveUp(SyncFailure(.serverSilent, "the server has gone silent"), now: now, &effects)
        case .unanswered:
            giveUp(SyncFailure(.unanswered, "the server does not answer requests"), now: now, &effects)
        }
    }

    /// Asks for a sign of life: every server of this version answers `auth` at once, and it changes nothing.
    func probe(_ effects: inout [SyncEffect]) {
        effects.append(.send(ClientMessage.auth(Auth(token: token)).encode()))
    }

    /// Updates whether the server owes an answer, after an event.
    mutating func noteOwed(now: Milliseconds) {
        guard isStreaming else { return }
        let isOwing = !pushes.isEmpty || !pages.isEmpty || !histories.isEmpty || !isConsistent
        watch.owes(isOwing ? pushes.reduce(0) { $0 + $1.bytes } : nil, now: now)
    }

    /// Notes progress towards an answer of the server, or towards the end of a round.
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
