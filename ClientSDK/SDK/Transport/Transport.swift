/// How the engine reaches a server. One implementation a platform, and one that stays in the process for tests.
public protocol Transport: Sendable {
    /// Opens a connection.
    ///
    /// - Parameter url: `http://host:port` or `https://…`; the path of the sync endpoint is the transport's to add.
    /// - Throws: `SyncFailure` where the transport knows what is the matter, such as a certificate or an HTTP status, and any
    ///   other error when the server cannot be reached; the engine tries again.
    func connect(to url: String) async throws -> any TransportConnection

    /// Carries one call beside the connection. Redirects are not followed.
    ///
    /// - Parameters:
    ///   - request: the call.
    ///   - url: as for `connect`.
    /// - Throws: `HTTPAnswerTooLong`, `HTTPUnsupported`, or any other error when there is no answer; the engine tries again.
    func exchange(_ request: HTTPCall, with url: String) async throws -> HTTPAnswer
}

/// One open connection that carries whole messages.
public protocol TransportConnection: Sendable {
    /// Sends one message; returns when the bytes were handed to the system, and is not called again before that.
    func send(_ message: [UInt8]) async throws

    /// Waits for the next message. Nothing further is read from the network meanwhile: that is the backpressure.
    ///
    /// - Throws: `TransportClosed` when the connection ended with a close code, `SyncFailure` or any other error when it ended
    ///   otherwise.
    func receive() async throws -> [UInt8]

    /// Waits for the next message, and takes along those that are here already behind it, so that they cost the disk one
    /// write. At least one; each is bounded as for `receive`. Left out, it is one at a time.
    ///
    /// - Throws: as `receive`, for what comes after the messages that it gave.
    func receiveWaiting() async throws -> [[UInt8]]

    /// Closes the connection; a waiting `receive` or `send` then throws. Called once, also on a connection that carries
    /// nothing any more: it must not wait for the other end for long.
    func close(code: UInt16) async
}

extension TransportConnection {
    /// One message at a time: each is then applied by itself. Throws as `receive`.
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
