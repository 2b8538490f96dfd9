import TidemarkModel
import TidemarkWire

extension SyncMachine {
    /// Says something if it can be said now; otherwise nobody ever hears of it.
    ///
    /// Before the copy is up to date the server drops what is said; so it is not sent.
    func say(_ message: Ephemeral, _ effects: inout [SyncEffect]) {
        guard isLive, let ephemeralLimits, ephemeralLimits.allow(message) else { return }
        effects.append(.sendEphemeral(ClientMessage.ephemeral(message).encode()))
    }

    /// Somebody said something, or the server spoke of somebody.
    mutating func hear(_ message: Ephemeral, _ effects: inout [SyncEffect]) {
        if message.kind == Ephemeral.presence { presence.answered(message.scope) }
        effects.append(.heard(message))
    }

    /// The app watches the presence of these scopes, and of no others.
    mutating func watch(_ scopes: Set<ScopeID>, _ effects: inout [SyncEffect]) {
        for scope in presence.want(scopes) {
            say(Ephemeral(scope: scope, kind: Ephemeral.presence, lifetime: 0), &effects)
        }
    }

    /// Asks for what was not answered yet.
    mutating func askPresence(now: Milliseconds, _ effects: inout [SyncEffect]) {
        guard isLive, ephemeralLimits != nil else { return }
        for scope in presence.next(now: now) {
            say(Ephemeral(scope: scope, kind: Ephemeral.presence, lifetime: 1), &effects)
        }
    }
}
