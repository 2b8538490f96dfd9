/// The engine's access to servers. There is one implementation for each platform, and one that stays in the process for
/// tests.
public protocol Transport: Sendable {
    /// Opens a connection.
    ///
    /// - Parameter url: `http://host:port` or `https://…`; the transport adds the path of the sync endpoint.
    /// - Throws: `SyncFailure` if the transport knows the cause, such as a certificate or an HTTP status, and any other
    ///   error when the server cannot be reached; the engine tries again.
    func connect(to url: String) async throws -> any TransportConnection

    /// Carries one call beside the connection. Redirects are not followed.
    ///
    /// - Parameters:
    ///   - request: the call.
    ///   - url: as for `connect`.
    /// - Throws: `HTTPAnswerTooLong`, `HTTPUnsupported`, or any other error when there is no answer; the engine tries
    ///   again.
    func exchange(_ request: HTTPCall, with url: String) async throws -> HTTPAnswer
}

/// One open connection that carries whole messages.
public protocol TransportConnection: Sendable {
    /// Sends one message; returns when the bytes were handed to the system. The engine makes one call at a time.
    func send(_ message: [UInt8]) async throws

    /// Waits for the next message. Nothing further is read from the network meanwhile: that is the backpressure.
    ///
    /// - Throws: `TransportClosed` when the connection ended with a close code, `SyncFailure` or any other error when
    ///   it ended otherwise.
    func receive() async throws -> [UInt8]

    /// Waits for the next message, and returns it with those that have already arrived behind it, so that they need one
    /// disk write. It returns at least one; each is bounded as for `receive`. The default implementation returns one at
    /// a time.
    ///
    /// - Throws: the errors of `receive`, after the messages that it returned.
    func receiveWaiting() async throws -> [[UInt8]]

    /// Closes the connection; a waiting `receive` or `send` then throws. Called once, also on a dead connection: it
    /// must not wait for the other end for long.
    func close(code: UInt16) async
}

extension TransportConnection {
    /// Returns one message at a time; each is then applied separately. Throws the errors of `receive`.
    public func receiveWaiting() async throws -> [[UInt8]] { [try await receive()] }
}

/// The end of a connection.
public struct TransportClosed: Error, Hashable, Sendable {
    /// The WebSocket close code; 1006 when the connection was lost without one.
    public let code: UInt16
    /// The peer's reason, for logs.
    public let reason: String

    public init(code: UInt16, reason: String) {
        self.code = code
        self.reason = reason
    }
}
