import TidemarkWire

extension SyncMachine {
    /// Says something if it can be said now; otherwise nobody ever hears of it.
    ///
    /// Before the copy is up to date the server drops what is said; so it is not sent.
    func say(_ message: Ephemeral, _ effects: inout [SyncEffect]) {
        guard isLive, let ephemeralLimits, ephemeralLimits.allow(message) else { return }
        effects.append(.send(ClientMessage.ephemeral(message).encode()))
    }
}
