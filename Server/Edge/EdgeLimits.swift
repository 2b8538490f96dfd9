/// Every bound of the socket edge, with the refusal that follows when a peer reaches it.
///
/// The defaults suit a server that clients reach directly, or by ``TrustedProxies``. Behind another proxy all clients share its
/// address: set ``unauthenticatedPerAddressMax`` to `nil` there and let the proxy bound addresses.
package struct EdgeLimits: Sendable {
    // MARK: Connections

    /// Open connections of both kinds; one more may only probe, see ``probesMax``.
    package var connectionsMax = 20_000
    /// Connections of one remote address (IPv6: one /64 network) that have not proved who they are, or wait for their next
    /// call; one more may only probe. `nil` sets no bound.
    package var unauthenticatedPerAddressMax: Int? = 512
    /// Connections beyond these bounds that may still ask `/healthz` or `/readyz`, once; another call there is answered by
    /// 503. One more takes the place of the oldest of them, which is closed; with 0 it is closed itself, unread.
    package var probesMax = 16
    /// Those of them that come from one address: one more takes the place of that address's oldest.
    package var probesPerAddressMax = 4
    /// The time that such a connection has for each: its request's head, its body, and taking the answer.
    package var probeDeadline: Duration = .seconds(5)

    // MARK: Before HTTP

    /// From the accept to the end of the header that a trusted proxy sends first; then the connection is closed. The first
    /// request's ``headDeadline``, which begins at the accept as well, is the bound on a handshake of TLS.
    package var proxyHeaderDeadline: Duration = .seconds(5)
    /// Bytes of that header behind its first 16; a longer one closes the connection.
    package var proxyHeaderBytesMax = 2_048

    // MARK: Before a token was seen

    /// Bytes of an unfinished message that a WebSocket may have before its owner knows who it is.
    package var unauthenticatedBytesFree = 8 * 1024
    /// Bytes of unfinished messages that are longer, over all such sockets; one for which there is no room is closed with
    /// 4503.
    package var unauthenticatedBytesMax = 8 * 1024 * 1024
    /// The same over those of one address; without effect where ``unauthenticatedPerAddressMax`` is `nil`.
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
    /// The same for the one call that carries a blob; `nil` makes no difference.
    package var blobBytesMax: Int?
    /// From the accept to the end of the first request's head, whether the peer is silent or slow; then the
    /// connection is closed.
    package var headDeadline: Duration = .seconds(10)
    /// From the end of a request's head to the end of its body, and between two pieces of it; then the connection is
    /// closed.
    package var bodyDeadline: Duration = .seconds(60)
    /// From the end of a request to the end of its answer: bounds peers that do not read; then the connection is closed.
    package var answerDeadline: Duration = .seconds(300)
    /// How slow a large body or answer may be: each byte that has passed moves the two deadlines above by its share.
    package var bytesPerSecondMin = 16 * 1024
    /// From the end of an answer to the end of the next request's head; then the connection is closed.
    package var keepAliveIdleMax: Duration = .seconds(60)

    // MARK: WebSocket

    /// Bytes of a text message, in one frame or in fragments; a header that announces more is answered by close 1009.
    package var messageBytesMax = 1024 * 1024
    /// Frames of one message; one more is answered by close 1009.
    package var fragmentsPerMessageMax = 64
    /// Pings and pongs that a peer may send in one minute; one more is answered by close 1008.
    package var controlFramesPerMinuteMax = 120
    /// The server's own pings.
    package var pingEvery: Duration = .seconds(25)
    /// A peer of which nothing was heard for so long is closed with 4408; so is one whose socket is full and takes nothing
    /// for so long, whatever it says meanwhile.
    package var silenceMax: Duration = .seconds(60)
    /// From our close frame to the peer's answer; then the connection is cut.
    package var closeDeadline: Duration = .seconds(5)
    /// From the start of a graceful shutdown to close 1001, for sockets that their owner has not closed itself.
    package var drainDeadline: Duration = .seconds(10)
    /// How often an event loop looks whether a socket has passed one of the four spans above: their accuracy.
    package var sweepEvery: Duration = .seconds(1)

    // MARK: Buffers of an upgraded socket

    /// Unsent bytes under which a socket that was full becomes writable again.
    package var writeBufferLowBytes = 64 * 1024
    /// Unsent bytes from which a socket is not writable: nothing is read from it until it is again, and the owner is told.
    package var writeBufferHighBytes = 256 * 1024
    /// `SO_SNDBUF`: what the kernel may hold beyond that (Linux doubles the figure for its own bookkeeping).
    package var kernelSendBufferBytes = 256 * 1024
    /// The most that one read of a socket asks for.
    package var receiveBufferBytesMax = 64 * 1024

    /// The defaults; change what differs.
    package init() {}
}

extension EdgeLimits {
    /// What holds for a connection that may only probe.
    var forProbe: EdgeLimits {
        var limits = self
        limits.headDeadline = probeDeadline
        limits.bodyDeadline = probeDeadline
        limits.answerDeadline = probeDeadline
        limits.closeDeadline = min(closeDeadline, probeDeadline)
        return limits
    }
}
