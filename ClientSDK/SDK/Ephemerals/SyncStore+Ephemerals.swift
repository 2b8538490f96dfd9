public import TidemarkModel
import TidemarkWire

extension SyncStore {
    /// Sends a message to the devices that are connected now and hold the scope, such as typing or a cursor position.
    /// Returns at once.
    ///
    ///     store.send(ephemeral: "typing", in: room, lifetime: .seconds(6))
    ///
    /// It may not arrive, and no error is reported: without a connection, before the copy is up to date, or over the
    /// server's limits (10 a second, 1 KiB, 10 s) it is dropped. It is not stored anywhere.
    /// - Parameters:
    ///   - kind: 1 to 64 bytes; `presence` is the server's own.
    ///   - payload: the content, for the app.
    ///   - scope: the scope whose members receive it.
    ///   - lifetime: the time for which it is valid for the receivers.
    public func send(
        ephemeral kind: String, _ payload: Fields = Fields(), in scope: ScopeID, lifetime: Duration = .seconds(10)
    ) {
        // No server accepts a lifetime of a day.
        let milliseconds = Int64(min(lifetime, .seconds(86_400)) / .milliseconds(1))
        guard Ephemeral.isKind(kind), kind != Ephemeral.presence, milliseconds >= 0 else { return }
        syncing.post(.say(Ephemeral(scope: scope, kind: kind, payload: payload, lifetime: milliseconds)))
    }

    /// The messages of others in a scope from now on; ends with its task. A slow reader loses the oldest.
    ///
    ///     for await message in store.ephemerals(in: room) where message.kind == "typing" { … }
    public func ephemerals(in scope: ScopeID) -> AsyncStream<EphemeralMessage> { listeners.values(in: scope) }

    /// The presence of a scope's users, now and after each change; ends with its task. The server reports it, and it is
    /// not stored. Without a connection, and for users unknown to the server, there is no entry.
    ///
    /// Up to 64 scopes at a time; more get no answer. A scope that is shared with all users has no presence.
    public func presence(in scope: ScopeID) -> AsyncStream<[UserID: Presence]> {
        presence.values(in: scope) { [syncing] in syncing.postWatched() }
    }
}
