package import TidemarkModel

/// Every bound of the conversation, advertised in `welcome` and enforced by the server (PROTOCOL.md, "Limits").
package struct WireLimits: Hashable, Sendable {
    /// Bytes of one inbound WebSocket message or HTTP body.
    package var messageBytesMax = 1_048_576
    /// Transactions in one push.
    package var pushTransactionsMax = 200
    /// Pushes of one connection that are not settled yet.
    package var pushesInFlightMax = 10
    /// Outcomes of one client that it has not acknowledged and the server must keep.
    package var outcomesKeptMax = 4_096
    /// Bytes of frames that a `changes` frame aims at; a single larger record still goes, alone.
    package var changesBytesTarget = 256 * 1024
    /// Rows of one page.
    package var pageRowsMax = 200
    /// Body bytes of one page.
    package var pageBytesMax = 512 * 1024
    /// Scopes that a client may list when it resumes, and that are live at once on one connection.
    package var scopesMax = 2_000
    /// Bytes of `changes` frames that may be sent and not acknowledged.
    package var windowBytesMax = 1_048_576
    /// The same in frames.
    package var windowFramesMax = 1_000
    /// Bytes of everything that a connection is given at once; then it gets nothing until its socket has room.
    package var outboundBytesMax = 512 * 1024
    /// Transactions a second that one client may sustain.
    package var transactionsPerSecond = 100
    /// Transactions that one client may send at once after a pause.
    package var transactionsBurst = 1_000
    /// Connections of one user.
    package var connectionsPerUserMax = 20
    /// Calls over HTTP that one user may have in progress, those that wait among them.
    package var callsPerUserMax = 64
    /// Pages that one connection may have asked for and not received.
    package var pagesInFlightMax = 4
    /// Bytes of one blob; `nil` where the server keeps none, or is older than blobs.
    package var blobBytesMax: Int?
    /// What a server allows that was not told otherwise: 16 MiB.
    package static let blobBytesDefault = 16 * 1_048_576
    /// Bounds on ephemeral messages.
    package var ephemeral = EphemeralLimits()
    /// Bounds on records and transactions.
    package var model = ModelLimits()

    package init() {}
}
