/// How much of the bytes that records name is kept on the device.
///
///     var cache = CachePolicy()
///     cache.blobs.heldBytesMax = 64 << 20
public struct BlobPolicy: Hashable, Sendable {
    /// Bytes of blobs that the server has too; above, those that nobody looked at for longest go first. `nil` for no limit.
    public var heldBytesMax: Int64? = 256 << 20
    /// Bytes of blobs that are still to be sent; more are refused with `quota`. They are never evicted.
    public var waitingBytesMax: Int64 = 1 << 30
    /// Bytes of one blob, sent or fetched. The server has a limit of its own, 16 MiB unless it was given another.
    public var bytesMax = 16 << 20
    /// Kinds of network over which blobs are sent and fetched; `nil` for all. `[.wifi, .wired]` spares what is paid by the
    /// megabyte: records go on over every network, and blobs wait for one of these. What is on its way when the network changes is
    /// finished. Where the system names no kind, as on Linux, all are carried.
    public var networks: Set<NetworkKind>?

    public init() {}
}

/// Bounds and times of the traffic of blobs.
package struct BlobLimits: Hashable, Sendable {
    /// Blobs that are sent at the same time.
    package var uploadsMax = 2
    /// Blobs that are fetched at the same time.
    package var downloadsMax = 4
    /// Blobs that may wait to be fetched besides; more are refused with `busy`.
    package var downloadsWaitingMax = 256
    /// The longest that one exchange may take.
    package var exchangeMax = Duration.seconds(300)
    /// Milliseconds within which a second look at a blob is not noted.
    package var usedGrain: Int64 = 60_000
    /// Milliseconds that the server may ask to wait; more is taken for this.
    package var retryAfterMax: Int64 = 3_600_000
    /// Characters of an error that are kept.
    package var errorLengthMax = 300

    package init() {}
}
