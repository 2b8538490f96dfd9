import TidemarkModel
import TidemarkWire

extension SyncMachine {
    /// Sends an ephemeral message if that is possible now; otherwise it is dropped.
    ///
    /// Until the copy is up to date the server drops ephemeral messages, so they are not sent.
    func say(_ message: Ephemeral, _ effects: inout [SyncEffect]) {
        guard isLive, ephemeralLimits.allow(message) else { return }
        effects.append(.sendEphemeral(ClientMessage.ephemeral(message).encode()))
    }

    /// Passes on an ephemeral message of another user, or the server's presence message.
    mutating func hear(_ message: Ephemeral, _ effects: inout [SyncEffect]) {
        if message.kind == Ephemeral.presence { presence.answered(message.scope) }
        effects.append(.heard(message))
    }

    /// Sets the scopes whose presence the app watches, and ends the watches of all others.
    mutating func watch(_ scopes: Set<ScopeID>, _ effects: inout [SyncEffect]) {
        for scope in presence.want(scopes) {
            say(Ephemeral(scope: scope, kind: Ephemeral.presence, lifetime: 0), &effects)
        }
    }

    /// Asks for the presence that was not answered yet.
    mutating func askPresence(now: Milliseconds, _ effects: inout [SyncEffect]) {
        guard isLive else { return }
        for scope in presence.next(now: now) {
            say(Ephemeral(scope: scope, kind: Ephemeral.presence, lifetime: 1), &effects)
        }
    }
}
