public import TidemarkModel
import TidemarkWire

extension SyncStore {
    /// Says something to the devices that are connected now and hold the scope: typing, a cursor's place. Returns at once.
    ///
    ///     store.send(ephemeral: "typing", in: room, lifetime: .seconds(6))
    ///
    /// It may not arrive, and nobody tells: without a connection, before the copy is up to date, or over the server's
    /// limits (10 a second, 1 KiB, 10 s) it is dropped. Nothing of it is stored anywhere.
    /// - Parameters:
    ///   - kind: 1 to 64 bytes; `presence` is the server's own.
    ///   - payload: for the app.
    ///   - scope: whose members hear it.
    ///   - lifetime: for how long it means something to the others.
    public func send(
        ephemeral kind: String, _ payload: Fields = Fields(), in scope: ScopeID, lifetime: Duration = .seconds(10)
    ) {
        // No server takes one of a day.
        let milliseconds = Int64(min(lifetime, .seconds(86_400)) / .milliseconds(1))
        guard Ephemeral.isKind(kind), kind != Ephemeral.presence, milliseconds >= 0 else { return }
        syncing.say(Ephemeral(scope: scope, kind: kind, payload: payload, lifetime: milliseconds))
    }

    /// What others say in a scope from now on; ends with its task. Who reads slowly loses the oldest.
    ///
    ///     for await message in store.ephemerals(in: room) where message.kind == "typing" { … }
    public func ephemerals(in scope: ScopeID) -> AsyncStream<EphemeralMessage> { listeners.values(in: scope) }

    /// Who of a scope is there, now and after each change; ends with its task. The server says so, and nothing of it is
    /// stored: without a connection, and of users of whom the server knows nothing, there is no word.
    ///
    /// Up to 64 scopes at a time; more get no answer. A scope that is shared with everybody has no presence.
    public func presence(in scope: ScopeID) -> AsyncStream<[UserID: Presence]> {
        presence.values(in: scope) { [syncing] in syncing.watchChanged() }
    }
}
