/// The results of a store's synchronisation since it was opened, in counts: for a dashboard.
///
///     let metrics = store.metrics
///     report.send("sync_success", metrics.successRate ?? 1)
public struct SyncMetrics: Codable, Hashable, Sendable {
    /// The number of times that an attempt to sync began.
    public var started = 0
    /// The number of times that the copy came in sync with the server.
    public var succeeded = 0
    /// The number of times that an attempt, or a connection in sync, ended by itself.
    public var failed = 0
    /// The milliseconds that all successful attempts took together.
    public var milliseconds: Int64 = 0
    /// The transactions that the server accepted.
    public var committed = 0
    /// The transactions that the server rejected for good.
    public var rejected = 0
    /// The transactions that stalled, counted each time.
    public var stalled = 0
    /// The records that were changed here and elsewhere at the same time.
    public var merged = 0
    /// The records with local values that were overwritten unseen, or wait for a choice.
    public var conflicts = 0
    /// The records that differed from the server's. Should stay 0.
    public var diverged = 0
    /// The records that were removed to free space.
    public var evicted = 0
    /// The number of requests for older records.
    public var olderAsked = 0
    /// The number of these that needed the server.
    public var olderMissed = 0
    /// The number of requests for the bytes of a blob.
    public var blobsAsked = 0
    /// The number of these that were not on the device.
    public var blobsMissed = 0
    /// The number of times that the server rejected the bytes of a record.
    public var blobsRejected = 0
    /// The number of times that the server's database was found to have gone back.
    public var rewinds = 0
    /// The own transactions that were lost by that and are sent again.
    public var resent = 0
    /// The messages that were sent over the connection, without the transport's pings.
    public var messagesSent = 0
    /// The bytes of the sent messages, without those of TLS and frames.
    public var bytesSent: Int64 = 0
    /// The messages that were received.
    public var messagesReceived = 0
    /// The bytes of the received messages. A reconnection without changes takes less than 1,500 in both directions
    /// together, however much is stored here.
    public var bytesReceived: Int64 = 0

    // The names in JSON, which dashboards count by.
    private enum CodingKeys: String, CodingKey {
        case started, succeeded, failed, milliseconds, committed
        case rejected = "parked"
        case stalled = "withheld"
        case merged, conflicts, diverged, evicted, olderAsked, olderMissed, blobsAsked, blobsMissed
        case blobsRejected = "blobsRefused"
        case rewinds
        case resent = "reoffered"
        case messagesSent, bytesSent, messagesReceived, bytesReceived
    }

    public init() {}

    /// The share of attempts that came in sync, 0 to 1; `nil` before the first one has ended.
    public var successRate: Double? { Self.share(succeeded, of: succeeded + failed) }

    /// The share of settled transactions that the server accepted, 0 to 1; `nil` before the first one.
    public var acceptanceRate: Double? { Self.share(committed, of: committed + rejected) }

    /// The share of requests for older records that the device could answer itself, 0 to 1; `nil` before the first one.
    /// Everything else is always read from the device.
    public var cacheHitRate: Double? { Self.share(olderAsked - olderMissed, of: olderAsked) }

    /// The share of looks at blobs that the device could answer itself, 0 to 1; `nil` before the first one.
    public var blobHitRate: Double? { Self.share(blobsAsked - blobsMissed, of: blobsAsked) }

    /// The average milliseconds until in sync; `nil` before the first time.
    public var averageMilliseconds: Double? { succeeded == 0 ? nil : Double(milliseconds) / Double(succeeded) }

    private static func share(_ part: Int, of whole: Int) -> Double? { whole == 0 ? nil : Double(part) / Double(whole) }

    mutating func count(_ event: SyncLogEvent) {
        switch event {
        case .succeeded(let duration):
            succeeded += 1
            milliseconds += Int64(duration / .milliseconds(1))
        case .failed: failed += 1
        case .committed(let transactions, _): committed += transactions
        case .rejected: rejected += 1
        case .stalled: stalled += 1
        case .merged: merged += 1
        case .conflict: conflicts += 1
        case .diverged(let difference): diverged += difference.records
        case .evicted(let records): evicted += records
        case .started: started += 1
        case .blobRejected: blobsRejected += 1
        case .serverWentBack(_, _, let counts):
            rewinds += 1
            resent += counts.resent
        case .stopped, .forked, .compared, .undecodable, .trimFailed, .overdue, .corrupted, .recovered, .adopted,
            .spoolFault, .sharingFailed, .scopesLeftOut, .protectionFailed:
            break
        }
    }
}

extension SyncStore {
    /// The present counts.
    public var metrics: SyncMetrics { journal.metrics }
}
