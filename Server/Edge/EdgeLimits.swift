/// Every bound of the socket edge, with the refusal that follows when a peer reaches it.
///
/// The defaults suit a server that clients reach directly, or through ``TrustedProxies``. Behind another proxy all
/// clients share its address. Set ``unauthenticatedPerAddressMax`` to `nil` there and let the proxy bound addresses.
package struct EdgeLimits: Sendable {
    // MARK: Connections

    /// Open connections of both kinds; one more may only probe, see ``probesMax``.
    package var connectionsMax = 20_000
    /// Connections of one remote address (IPv6: one /64 network) that are unauthenticated or wait for their next
    /// call; one more may only probe. `nil` sets no bound.
    package var unauthenticatedPerAddressMax: Int? = 512
    /// Connections beyond these bounds that may still request `/healthz` or `/readyz`, once; another call is answered
    /// by 503. One more replaces the oldest of them, which is closed; with 0 it is closed itself, unread.
    package var probesMax = 16
    /// The number of these that one address may have; one more replaces that address's oldest.
    package var probesPerAddressMax = 4
    /// The time that such a connection has for each of these: its request's head, its body, and reading the answer.
    package var probeDeadline: Duration = .seconds(5)

    // MARK: Before HTTP

    /// The time from the accept to the end of the header that a trusted proxy sends first; then the connection is
    /// closed. A TLS handshake is bounded by the first request's ``headDeadline``, which begins at the accept as well.
    package var proxyHeaderDeadline: Duration = .seconds(5)
    /// Bytes of that header after its first 16; a longer one closes the connection.
    package var proxyHeaderBytesMax = 2_048

    // MARK: Before a token was seen

    /// Bytes of an unfinished message that a WebSocket may hold, uncounted, before it is authenticated.
    package var unauthenticatedBytesFree = 8 * 1024
    /// Bytes of longer unfinished messages, over all such sockets. If a message does not fit, its socket is closed with
    /// 4503.
    package var unauthenticatedBytesMax = 8 * 1024 * 1024
    /// The same bound for the sockets of one address; has no effect if ``unauthenticatedPerAddressMax`` is `nil`.
    package var unauthenticatedBytesPerAddressMax = 2 * 1024 * 1024

    // MARK: HTTP

    /// Bytes of one header field's name and value; beyond it the answer is 431.
    package var headerFieldBytesMax = 8 * 1024
    /// Bytes of all header fields of a request; beyond it the answer is 431.
    package var headerListBytesMax = 16 * 1024
    /// Header fields of a request; beyond it the answer is 431.
    package var headerFieldCountMax = 100
    /// Bytes of a request's body, declared or sent in chunks; beyond it the answer is 413. Routes set smaller bounds.
    package var requestBodyBytesMax = 16 * 1024 * 1024
    /// The same bound for the one call that carries a blob; `nil` makes no difference.
    package var blobBytesMax: Int?
    /// The time from the accept to the end of the first request's head, whether the peer is silent or slow; then the
    /// connection is closed.
    package var headDeadline: Duration = .seconds(10)
    /// The time from the end of a request's head to the end of its body, and between two pieces of it; then the
    /// connection is closed.
    package var bodyDeadline: Duration = .seconds(60)
    /// The time from the end of a request to the end of its answer; then the connection is closed. Bounds peers that do
    /// not read.
    package var answerDeadline: Duration = .seconds(300)
    /// The least speed of a large body or answer: each transferred byte extends the two deadlines above by its share.
    package var bytesPerSecondMin = 16 * 1024
    /// The time from the end of an answer to the end of the next request's head; then the connection is closed.
    package var keepAliveIdleMax: Duration = .seconds(60)

    // MARK: WebSocket

    /// Bytes of a text message, in one frame or in fragments; a header that announces more is answered by close 1009.
    package var messageBytesMax = 1024 * 1024
    /// Frames of one message; one more is answered by close 1009.
    package var fragmentsPerMessageMax = 64
    /// Pings and pongs that a peer may send in one minute; one more is answered by close 1008.
    package var controlFramesPerMinuteMax = 120
    /// The interval of the server's own pings.
    package var pingEvery: Duration = .seconds(25)
    /// The time after which a silent peer is closed with 4408. A peer whose socket is full and accepts nothing for so
    /// long is closed too, even if it sends messages.
    package var silenceMax: Duration = .seconds(60)
    /// The time from the server's close frame to the peer's answer; then the connection is cut.
    package var closeDeadline: Duration = .seconds(5)
    /// The time from the start of a graceful shutdown to close 1001, for sockets that their owner has not closed
    /// itself.
    package var drainDeadline: Duration = .seconds(10)
    /// The interval at which an event loop checks the four spans above for each socket: their accuracy.
    package var sweepEvery: Duration = .seconds(1)

    // MARK: Buffers of an upgraded socket

    /// Unsent bytes under which a socket that was full becomes writable again.
    package var writeBufferLowBytes = 64 * 1024
    /// Unsent bytes from which a socket is not writable. Until it is again, nothing is read from it; the owner is
    /// notified.
    package var writeBufferHighBytes = 256 * 1024
    /// `SO_SNDBUF`: the bytes that the kernel may hold beyond that (Linux doubles the value for its own bookkeeping).
    package var kernelSendBufferBytes = 256 * 1024
    /// The greatest number of bytes that one read of a socket requests.
    package var receiveBufferBytesMax = 64 * 1024

    /// The defaults; change what differs.
    package init() {}
}

extension EdgeLimits {
    /// The limits of a connection that may only probe.
    var forProbe: EdgeLimits {
        var limits = self
        limits.headDeadline = probeDeadline
        limits.bodyDeadline = probeDeadline
        limits.answerDeadline = probeDeadline
        limits.closeDeadline = min(closeDeadline, probeDeadline)
        return limits
    }
}
