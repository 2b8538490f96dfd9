import TidemarkModel
import TidemarkWire

/// The system's reports on the network.
extension SyncMachine {
    mutating func network(_ change: NetworkChange, now: Milliseconds, _ effects: inout [SyncEffect]) {
        switch change {
        case .lost: lostNetwork(now: now, &effects)
        case .regained: regainedNetwork(now: now, &effects)
        case .changed: changedNetwork(now: now, &effects)
        }
    }

    /// Tries at once if the machine is waiting.
    mutating func hurry(now: Milliseconds, _ effects: inout [SyncEffect]) {
        guard case .waiting = link, now >= notBefore else { return }
        backoff.reset()
        // A network that flaps many times a second would otherwise cause as many connections.
        let earliest = (attempted ?? 0) + timing.hurryPause
        guard now < earliest else { return open(now: now, &effects) }
        link = .waiting(until: earliest)
    }

    /// Reports the loss at once, and tries again after the usual wait: the system may be wrong.
    private mutating func lostNetwork(now: Milliseconds, _ effects: inout [SyncEffect]) {
        let failure = SyncFailure(.unreachable, "the device has no network")
        switch link {
        case .stopped, .refused: break
        case .waiting(let until):
            // Only an update helps an app that is too old.
            if case .waiting(_, let reason) = phase, reason.minimumApp != nil { break }
            show(.offline(until: until, reason: failure), &effects)
        case .opening, .greeting, .streaming:
            effects.append(.close(.normal))
            retry(failure, now: now, &effects)
        }
    }

    /// Begins anew: a connection attempt that began without a network may hang for long.
    private mutating func regainedNetwork(now: Milliseconds, _ effects: inout [SyncEffect]) {
        switch link {
        case .stopped, .refused: return
        case .waiting: break
        case .opening, .greeting, .streaming:
            effects.append(.close(.normal))
            disconnected(&effects)
            link = .waiting(until: max(now, notBefore))
            if phase != .connecting { show(.connecting, &effects) }
        }
        hurry(now: now, &effects)
    }

    /// Asks an open connection for a sign of life, to see whether it survived the change.
    private mutating func changedNetwork(now: Milliseconds, _ effects: inout [SyncEffect]) {
        guard isStreaming else { return hurry(now: now, &effects) }
        if watch.ask(now: now) { probe(&effects) }
    }
}
