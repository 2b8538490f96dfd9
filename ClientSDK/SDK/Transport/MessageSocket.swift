/// A socket that carries whole messages and calls back, as Apple's does. `SocketConnection` makes a connection of it.
protocol MessageSocket: Sendable {
    /// Sends one message; returns when the bytes were handed to the system.
    func send(_ message: [UInt8]) async throws

    /// Calls back once, on any thread, with the next message, or with the reason for its absence: `TransportClosed` for
    /// an end with a close code, else `SyncFailure`.
    func receive(_ done: @escaping @Sendable (Result<[UInt8], any Error>) -> Void)

    /// Sends a ping, and calls back once: true when its answer arrived.
    func ping(_ done: @escaping @Sendable (Bool) -> Void)

    /// Ends the connection; a waiting `receive` is called back.
    func cancel(code: UInt16)
}
