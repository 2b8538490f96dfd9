/// The limits for blobs on the device.
///
///     var cache = CachePolicy()
///     cache.blobs.maxHeldBytes = 64 << 20
public struct BlobPolicy: Hashable, Sendable {
    /// The most bytes of blobs that the server also has; beyond it the least recently used are evicted. `nil` for no
    /// limit.
    public var maxHeldBytes: Int64? = 256 << 20
    /// The most bytes of blobs that still have to be sent; more are refused with `quota`. They are never evicted.
    public var maxWaitingBytes: Int64 = 1 << 30
    /// The most bytes of one blob, sent or fetched. The server has its own limit, 16 MiB by default.
    public var maxBytes = 16 << 20
    /// The kinds of network over which blobs are sent and fetched; `nil` for all. `[.wifi, .wired]` avoids metered
    /// networks: records still use every network, and blobs wait for one of these. Transfers that run when the network
    /// changes are finished. If the system reports no kind, as on Linux, all blobs are carried.
    public var networks: Set<NetworkKind>?

    public init() {}
}

/// The bounds and times of blob transfers.
package struct BlobLimits: Hashable, Sendable {
    /// The most blobs that are sent at the same time.
    package var uploadsMax = 2
    /// The most blobs that are fetched at the same time.
    package var downloadsMax = 4
    /// The most blobs that may wait to be fetched besides; more are refused with `busy`.
    package var downloadsWaitingMax = 256
    /// The longest time of one exchange.
    package var exchangeMax = Duration.seconds(300)
    /// The milliseconds within which a second use of a blob is not recorded.
    package var usedGrain: Int64 = 60_000
    /// The longest wait that the server may ask for, in milliseconds; more is shortened to this.
    package var retryAfterMax: Int64 = 3_600_000
    /// The most characters of an error that are stored.
    package var errorLengthMax = 300

    package init() {}
}
