/// The reason why a connection could not be made or used.
package struct NIOTransportError: Error, Equatable, CustomStringConvertible {
    /// The kinds of failure.
    package enum Code: String, Sendable {
        /// No connection: unknown host, refused, or unreachable.
        case connectFailed
        /// The server has no trusted certificate, or does not speak TLS.
        case tlsFailed
        /// A deadline passed.
        case timedOut
        /// The server answered the handshake with an HTTP status: see ``NIOTransportError/httpStatus``.
        case handshakeRefused
        /// The connection ended without a close frame.
        case lost
        /// Nothing was received from the server for too long.
        case silent
        /// An answer or message is longer than allowed.
        case tooLarge
        /// The server violated HTTP or WebSocket.
        case protocolViolation
        /// A second ``NIOWebSocketConnection/receive()`` began before the first ended.
        case alreadyReceiving
    }

    /// The kind of failure.
    package let code: Code
    /// The status of a refused handshake.
    package let httpStatus: Int?
    /// Details for logs. They may quote the server's text, never the client's.
    package let detail: String

    init(_ code: Code, _ detail: String, httpStatus: Int? = nil) {
        self.code = code
        self.detail = detail
        self.httpStatus = httpStatus
    }

    /// The kind and the detail.
    package var description: String { "\(code.rawValue): \(detail)" }
}

/// The server, or this side, ended the connection with a close frame.
package struct TransportClosed: Error, Equatable, CustomStringConvertible {
    /// The close code; 1005 when the frame carried none.
    package let code: UInt16
    /// The frame's text, empty if there was none.
    package let reason: String

    /// The code and the reason.
    package var description: String { "closed with \(code): \(reason)" }
}
