package import Tidemark

/// The bounds of the NIO transport; the defaults match the server's.
package struct NIOTransportLimits: Sendable {
    /// The limit for the TCP connection, and again for the TLS and WebSocket handshakes on it.
    package var connectTimeout: Duration = .seconds(10)
    /// The time without data after which a server is given up, and the interval of pongs that show the server that this
    /// side lives. They are sent while the app takes no messages: then nothing is read and no ping is answered. The
    /// server sends pings, so the client sends none.
    package var silence = SilenceWatch.Timing(
        pingAfter: nil, silenceMax: .seconds(60), signOfLifeEvery: .seconds(20))
    /// The time from the client's close frame to the server's; then the connection is cut.
    package var closeDeadline: Duration = .seconds(2)
    /// The messages that wait for ``NIOWebSocketConnection/receive()``; at this number the socket is no longer read. As
    /// many may be applied together; their bytes have the bound of one message.
    package var waitingMessagesMax = 128
    /// The most frames of one message.
    package var fragmentsPerMessageMax = 1024
    /// The bytes of a refused handshake's body that are kept for the error's text.
    package var refusalBytesMax = 4 * 1024

    /// Creates the defaults.
    package init() {}
}
