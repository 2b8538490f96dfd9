// The names of properties and cases before the first release; they go with the one after it.
public import Foundation
public import TidemarkModel

extension SyncStatus {
    @available(*, deprecated, renamed: "connection") public var phase: ConnectionState { connection }
    @available(*, deprecated, renamed: "stalled") public var failed: Int { stalled }
    @available(*, deprecated, renamed: "rejected") public var parked: Int { rejected }
    @available(*, deprecated, renamed: "rejectedBlobs") public var failedBlobs: Int { rejectedBlobs }
    @available(*, deprecated, renamed: "init(connection:lastSync:)")
    public init(phase: ConnectionState, lastSync: Date?) { self.init(connection: phase, lastSync: lastSync) }
}

extension ConnectionState {
    @available(*, deprecated, renamed: "rejected(reason:)")
    public static func refused(reason: SyncFailure) -> ConnectionState { .rejected(reason: reason) }
}

extension SyncActivity {
    @available(*, deprecated, renamed: "disconnected") public static var idle: SyncActivity { .disconnected }
    @available(*, deprecated, renamed: "upToDate") public static var completed: SyncActivity { .upToDate }
}

extension CollectionStatus {
    @available(*, deprecated, renamed: "stalled") public var failed: Int { stalled }
}

extension StoreStatistics {
    @available(*, deprecated, renamed: "stalled") public var failed: Int { stalled }
    @available(*, deprecated, renamed: "rejected") public var parked: Int { rejected }
}

extension StoreRecovery {
    @available(*, deprecated, renamed: "rejected") public var parked: Int { rejected }
}

extension StoreError.Code {
    @available(*, deprecated, renamed: "rejected(_:)")
    public static func refused(_ code: RejectionCode) -> StoreError.Code { .rejected(code) }
}

extension SyncFailure.Code {
    @available(*, deprecated, renamed: "writesStalled")
    public static var writesWithheld: SyncFailure.Code { .writesStalled }
}

extension WriteStep {
    @available(*, deprecated, renamed: "rejected(_:)")
    public static func parked(_ rejection: Rejection) -> WriteStep { .rejected(rejection) }
    @available(*, deprecated, renamed: "resending") public static var reoffered: WriteStep { .resending }
}

extension BlobStatus {
    @available(*, deprecated, renamed: "rejected(_:)")
    public static func failed(_ failure: BlobFailure) -> BlobStatus { .rejected(failure) }
}

extension AccountFailure {
    @available(*, deprecated, renamed: "rejected") public static var refused: AccountFailure { .rejected }
}

extension PendingWrite {
    @available(*, deprecated, renamed: "writtenAt") public var written: Date { writtenAt }
    @available(*, deprecated, renamed: "isStalled") public var isWithheld: Bool { isStalled }
}

extension RejectedTransaction {
    @available(*, deprecated, renamed: "rejectedAt") public var parked: Date { rejectedAt }
}

extension StalledTransaction {
    @available(*, deprecated, renamed: "writtenAt") public var written: Date { writtenAt }
}

extension LossCounts {
    @available(*, deprecated, renamed: "resent") public var reoffered: Int { resent }
    @available(*, deprecated, renamed: "lostRecords") public var rescued: Int { lostRecords }
}

extension LostRecord {
    @available(*, deprecated, renamed: "updatedAt") public var updated: Date? { updatedAt }
    @available(*, deprecated, renamed: "lostAt") public var rescued: Date { lostAt }
}

extension OlderRecords {
    @available(*, deprecated, renamed: "exist") public var hasOlder: Bool { exist }
}

extension ScopeUsage {
    @available(*, deprecated, renamed: "retention") public var keeping: ScopeRetention { retention }
}

extension SpoolAdoption {
    @available(*, deprecated, renamed: "rejected") public var parked: [UUID] { rejected }
    @available(*, deprecated, renamed: "faults") public var setAside: [SpoolFault] { faults }
    @available(*, deprecated, renamed: "writesOfOtherUsers") public var ofOthers: Int { writesOfOtherUsers }
}

extension SyncDevice {
    @available(*, deprecated, renamed: "registeredAt") public var registered: Date { registeredAt }
    @available(*, deprecated, renamed: "lastSeenAt") public var lastSeen: Date { lastSeenAt }
    @available(*, deprecated, renamed: "signedOutAt") public var signedOut: Date? { signedOutAt }
}

extension UnsentBlob {
    @available(*, deprecated, renamed: "addedAt") public var since: Date { addedAt }
}

extension SearchOrder {
    @available(*, deprecated, renamed: "newestFirst") public static var recency: SearchOrder { .newestFirst }
}

extension CachePolicy {
    @available(*, deprecated, renamed: "maxBytes") public var bytesMax: Int64? {
        get { maxBytes }
        set { maxBytes = newValue }
    }
    @available(*, deprecated, renamed: "maxRows") public var rowsMax: Int? {
        get { maxRows }
        set { maxRows = newValue }
    }
}

extension BlobPolicy {
    @available(*, deprecated, renamed: "maxBytes") public var bytesMax: Int {
        get { maxBytes }
        set { maxBytes = newValue }
    }
    @available(*, deprecated, renamed: "maxHeldBytes") public var heldBytesMax: Int64? {
        get { maxHeldBytes }
        set { maxHeldBytes = newValue }
    }
    @available(*, deprecated, renamed: "maxWaitingBytes") public var waitingBytesMax: Int64 {
        get { maxWaitingBytes }
        set { maxWaitingBytes = newValue }
    }
}

extension FlightRecording {
    @available(*, deprecated, renamed: "maxBytes") public var bytesMax: Int {
        get { maxBytes }
        set { maxBytes = newValue }
    }
    @available(*, deprecated, renamed: "recordsValues") public var keepsValues: Bool {
        get { recordsValues }
        set { recordsValues = newValue }
    }
}

extension ShadowComparison.Limits {
    @available(*, deprecated, renamed: "maxSamples") public var samplesMax: Int {
        get { maxSamples }
        set { maxSamples = newValue }
    }
    @available(*, deprecated, renamed: "maxHistory") public var historyMax: Int {
        get { maxHistory }
        set { maxHistory = newValue }
    }
    @available(*, deprecated, renamed: "maxSuspects") public var suspectsMax: Int {
        get { maxSuspects }
        set { maxSuspects = newValue }
    }
}

extension HTTPCall {
    @available(*, deprecated, renamed: "maxAnswerBytes") public var answerBytesMax: Int { maxAnswerBytes }
}
