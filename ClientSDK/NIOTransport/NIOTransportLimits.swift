package import Tidemark

/// Every bound of the NIO transport; the defaults match the server's.
package struct NIOTransportLimits: Sendable {
    /// For the TCP connection, and again for the TLS and WebSocket handshakes on it.
    package var connectTimeout: Duration = .seconds(10)
    /// When a server is given up of which nothing is heard, and how often a pong tells it that this side lives while the app does
    /// not take messages, nothing is read and no ping is answered. The server's pings are heard, so none is sent.
    package var silence = SilenceWatch.Timing(
        pingAfter: nil, silenceMax: .seconds(60), signOfLifeEvery: .seconds(20))
    /// From our close frame to the server's answer; then the connection is cut.
    package var closeDeadline: Duration = .seconds(2)
    /// Messages that wait for ``NIOWebSocketConnection/receive()``; from here on the socket is not read. So many may be
    /// applied together; their bytes are bounded as those of one message.
    package var waitingMessagesMax = 128
    /// Frames of one message.
    package var fragmentsPerMessageMax = 1024
    /// Bytes of a refused handshake's body that are kept for the error's text.
    package var refusalBytesMax = 4 * 1024

    /// The defaults; change what differs.
    package init() {}
}
