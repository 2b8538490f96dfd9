/// What a store's synchronisation has come to since the store was opened, in counts: for a dashboard.
///
///     let metrics = store.metrics
///     report.send("sync_success", metrics.successRate ?? 1)
public struct SyncMetrics: Codable, Hashable, Sendable {
    /// Times that an attempt to get in step began.
    public var started = 0
    /// Times that the copy came in step with the server.
    public var succeeded = 0
    /// Times that an attempt, or a connection that was in step, ended by itself.
    public var failed = 0
    /// Milliseconds that coming in step has taken, all together.
    public var milliseconds: Int64 = 0
    /// Transactions that the server accepted.
    public var committed = 0
    /// Transactions that were refused for good.
    public var parked = 0
    /// Transactions that got no answer too often, each time.
    public var withheld = 0
    /// Records that were changed here and elsewhere at the same time.
    public var merged = 0
    /// Records of which values written here were overwritten unseen, or wait for a choice.
    public var conflicts = 0
    /// Records that were otherwise here than at the server. Should stay 0.
    public var diverged = 0
    /// Records that were removed to make room.
    public var evicted = 0
    /// Times that older records were asked for.
    public var olderAsked = 0
    /// Of these, those that the server had to be asked for.
    public var olderMissed = 0
    /// Times that the bytes of a blob were asked for.
    public var blobsAsked = 0
    /// Of these, those that were not on the device.
    public var blobsMissed = 0
    /// Times that the server refused the bytes of a record.
    public var blobsRefused = 0
    /// Times that the server's database was found to have gone back.
    public var rewinds = 0
    /// Own transactions that were lost by that and offered again.
    public var reoffered = 0
    /// Messages that were sent over the connection, pings of the transport not counted.
    public var messagesSent = 0
    /// Their bytes, without what TLS and the frames add.
    public var bytesSent: Int64 = 0
    /// Messages that came.
    public var messagesReceived = 0
    /// Their bytes. Connecting again when nothing has changed takes less than 1,500, both ways together, however much is here.
    public var bytesReceived: Int64 = 0

    public init() {}

    /// The share of attempts that came in step, 0 to 1; `nil` before the first one is over.
    public var successRate: Double? { Self.share(succeeded, of: succeeded + failed) }

    /// The share of settled transactions that the server accepted, 0 to 1; `nil` before the first one.
    public var acceptanceRate: Double? { Self.share(committed, of: committed + parked) }

    /// The share of requests for older records that the device could answer itself, 0 to 1; `nil` before the first one.
    /// Everything else is always read from the device.
    public var cacheHitRate: Double? { Self.share(olderAsked - olderMissed, of: olderAsked) }

    /// The share of looks at blobs that the device could answer itself, 0 to 1; `nil` before the first one.
    public var blobHitRate: Double? { Self.share(blobsAsked - blobsMissed, of: blobsAsked) }

    /// Milliseconds that coming in step takes on average; `nil` before the first time.
    public var averageMilliseconds: Double? { succeeded == 0 ? nil : Double(milliseconds) / Double(succeeded) }

    private static func share(_ part: Int, of whole: Int) -> Double? { whole == 0 ? nil : Double(part) / Double(whole) }

    mutating func count(_ event: SyncLogEvent) {
        switch event {
        case .succeeded(let duration):
            succeeded += 1
            milliseconds += Int64(duration / .milliseconds(1))
        case .failed: failed += 1
        case .committed(let transactions, _): committed += transactions
        case .parked: parked += 1
        case .withheld: withheld += 1
        case .merged: merged += 1
        case .conflict: conflicts += 1
        case .diverged(let difference): diverged += difference.records
        case .evicted(let records): evicted += records
        case .started: started += 1
        case .blobRefused: blobsRefused += 1
        case .rewound(_, _, let counts):
            rewinds += 1
            reoffered += counts.reoffered
        case .stopped, .forked, .compared, .undecodable, .trimFailed, .overdue, .corrupted, .recovered, .adopted,
            .spoolSetAside, .sharingFailed, .scopesLeftOut, .protectionFailed:
            break
        }
    }
}

extension SyncStore {
    /// The counts as of now.
    public var metrics: SyncMetrics { journal.metrics }
}
