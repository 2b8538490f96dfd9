/// Times of the client engine, in milliseconds.
package struct EngineTiming: Hashable, Sendable {
    /// The first wait after a failure; doubles up to `backoffMax`, with full jitter.
    package var backoffFirst: Int64 = 1_000
    package var backoffMax: Int64 = 30_000
    /// How often in a row a transaction may reach the server without an answer before it is withheld.
    package var attemptsMax = 5
    /// A connection that lived so long makes the next failure a first one again.
    package var healthy: Int64 = 10_000
    /// From the call for a token to the open socket.
    package var openingMax: Int64 = 60_000
    /// From the open socket to `welcome`.
    package var handshakeMax: Int64 = 10_000
    /// The longest that an applied frame stays unacknowledged.
    package var ackDelay: Int64 = 500
    /// Frames and bytes after which it is acknowledged at once.
    package var ackFrames = 32
    package var ackBytes = 96 * 1024
    /// Before the token's end, when a fresh one is fetched.
    package var tokenMargin: Int64 = 60_000
    /// Pages asked for at the same time.
    package var pagesAtOnce = 2
    /// Records whose history may be wanted without a connection; more are forgotten.
    package var historiesWantedMax = 64

    package init() {}
}
