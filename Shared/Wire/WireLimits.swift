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
    /// Bytes that a `changes` frame aims at; a single larger record is sent alone.
    package var changesBytesTarget = 256 * 1024
    /// Rows of one page.
    package var pageRowsMax = 200
    /// Scopes that are live at once on one connection: the newest grants of the user.
    package var scopesMax = 20_000
    /// Bytes of `changes` frames that may be sent and not acknowledged.
    package var windowBytesMax = 1_048_576
    /// `changes` frames that may be sent and not acknowledged.
    package var windowFramesMax = 1_000
    /// Bytes that a connection is given at once; then it gets nothing until its socket has room.
    package var outboundBytesMax = 512 * 1024
    /// Transactions a second that one client may sustain.
    package var transactionsPerSecond = 100
    /// Transactions that one client may send at once after a pause.
    package var transactionsBurst = 1_000
    /// Connections of one user.
    package var connectionsPerUserMax = 20
    /// Calls over HTTP that one user may have in progress, including those that wait.
    package var callsPerUserMax = 64
    /// Pages that one connection may have requested and not received.
    package var pagesInFlightMax = 256
    /// The number of pages that are read at once, and kept until they are sent.
    package var pagesReadMax = 4
    /// Bytes of one blob; `nil` if the server keeps none.
    package var blobBytesMax: Int?
    /// The default of a server that keeps blobs: 16 MiB.
    package static let blobBytesDefault = 16 * 1_048_576
    /// Bounds on ephemeral messages.
    package var ephemeral = EphemeralLimits()
    /// Bounds on records and transactions.
    package var model = ModelLimits()

    package init() {}
}

extension WireLimits {
    /// The name of `blobBytesMax`. It is not among the others: only a server that keeps blobs sends it, and a client
    /// that does not know it ignores it.
    private static let blobBytesName = "blob_bytes"

    /// The wire names with their properties.
    private static var names: [(String, WritableKeyPath<WireLimits, Int>)] {
        [
            ("message_bytes", \.messageBytesMax), ("push", \.pushTransactionsMax), ("pushes", \.pushesInFlightMax),
            ("page", \.pageRowsMax), ("pages", \.pagesInFlightMax), ("scopes", \.scopesMax),
            ("window_bytes", \.windowBytesMax), ("window_frames", \.windowFramesMax), ("rate", \.transactionsPerSecond),
            ("burst", \.transactionsBurst), ("record_bytes", \.model.recordBytesMax),
            ("transaction_bytes", \.model.transactionBytesMax), ("mutations", \.model.mutationsMax),
        ]
    }

    func write(to writer: inout JSONWriter) {
        var isFirst = true
        writer.byte(UInt8(ascii: "{"))
        let blobs = blobBytesMax.map { [(Self.blobBytesName, $0)] } ?? []
        for (name, value) in Self.names.map({ ($0.0, self[keyPath: $0.1]) }) + blobs {
            if isFirst { isFirst = false } else { writer.byte(UInt8(ascii: ",")) }
            writer.string(name)
            writer.byte(UInt8(ascii: ":"))
            writer.integer(Int64(value))
        }
        writer.byte(UInt8(ascii: "}"))
    }

    static func read(_ reader: inout JSONReader) throws -> WireLimits {
        var limits = WireLimits()
        try reader.object { reader, key in
            if key == blobBytesName {
                limits.blobBytesMax = Int(clamping: try MessageReader.count(&reader))
                return
            }
            guard let (_, path) = names.first(where: { $0.0 == key }) else { return try reader.skip() }
            limits[keyPath: path] = Int(clamping: try MessageReader.count(&reader))
        }
        return limits
    }
}
