public import Foundation

/// The sync state of a store, for an app's status line.
///
///     for await status in store.status { line.show(status.activity, pending: status.pending) }
public struct SyncStatus: Hashable, Sendable {
    /// The state of the connection, step by step; `activity` is what to show.
    public var connection: ConnectionState
    /// The server time up to which the local copy is known to be complete; `nil` before the first time.
    public var lastSync: Date?
    /// The number of transactions that are written here and not settled.
    public var pending = 0
    /// The number of transactions that got no answer too often, and of those behind them in the same scopes. They are
    /// kept and shown. They are tried again with the next connection or launch, after half a minute or more on a
    /// connection that lasts, or by `Outbox.retryStalled()`.
    public var stalled = 0
    /// The number of transactions that the server rejected for good; see `Outbox.rejected()`.
    public var rejected = 0
    /// The number of blobs that are stored here and not at the server yet.
    public var unsentBlobs = 0
    /// The number of blobs that the server rejected; see `Blobs.unsent()`.
    public var rejectedBlobs = 0
    /// The part of the account's visible records that is on the device.
    public var filled = SyncProgress(done: 0, total: 0)
    /// The number of records received from the server since the store was opened, in pages and as changes.
    public var received = 0
    /// The kind of network that the system names; `nil` without a network, and where the system names none, as on
    /// Linux.
    public var network: NetworkKind?
    /// True when blobs are neither sent nor fetched, since `BlobPolicy.networks` excludes this kind of network. They
    /// wait for another.
    public var isHoldingBlobs = false
    /// The number of the user's scopes that are not on this device, since a connection holds no more: those with the
    /// oldest grants. While there are any, `activity` is an error with the code `scopesLeftOut`, since the copy is
    /// incomplete.
    public var scopesLeftOut = 0
    /// True when the device has no free disk space: nothing is taken in, and writes throw `StoreError` with `diskFull`.
    /// The client tries again by itself.
    public var isDiskFull = false
    /// The reason and end of the server's limit on what this client may send; `nil` without one.
    public var pushPause: PushPause?
    private var track = ActivityTrack()

    public init(connection: ConnectionState, lastSync: Date?) {
        self.connection = connection
        self.lastSync = lastSync
        track.follow(self)
    }

    /// True while pending writes are being sent. Otherwise they are *queued*: there is no connection, or the server
    /// wants nothing for a while.
    public var isSending: Bool { pending > 0 && connection.isConnected && pushPause == nil }

    /// True when blobs are sent and fetched now.
    var carriesBlobs: Bool { connection.isConnected && !isHoldingBlobs }

    /// The number of blobs that are sent on this connection.
    var blobsToSend: Int { isHoldingBlobs ? 0 : unsentBlobs }

    /// The reason why the store is not in sync; `nil` without one. It is kept during the next attempt, until the server
    /// has sent its welcome: a code to switch over, and words for support.
    public var failure: SyncFailure? {
        if let failure = track.failure { return failure }
        guard connection == .live else { return nil }
        if stalled > 0 {
            return SyncFailure(
                .writesStalled, "writes without an answer: \(stalled); they are sent again later")
        }
        guard scopesLeftOut > 0 else { return nil }
        return SyncFailure(
            .scopesLeftOut, "\(scopesLeftOut) scopes do not fit on a connection, and are not on this device")
    }

    /// The state in five words.
    ///
    /// During a new attempt it keeps reporting the failure: nothing is under way before the server answers.
    public var activity: SyncActivity {
        switch connection {
        case .stopped: .disconnected
        case .connecting, .catchingUp, .live, .waiting, .offline, .rejected:
            if isUnderWay(track) {
                .syncing(track.progress)
            } else if let minimum = failure?.minimumApp {
                .updateRequired(minimum: minimum)
            } else if let failure {
                failure.isOffline ? .offline : .error(reason: failure)
            } else {
                .upToDate
            }
        }
    }

    /// True while connecting for the first time, taking in changes, or sending to a reachable server.
    func isUnderWay(_ track: ActivityTrack) -> Bool {
        switch connection {
        case .stopped, .waiting, .offline, .rejected: false
        case .connecting: track.failure == nil
        case .catchingUp, .live: !track.isInStep || pending > 0 || blobsToSend > 0
        }
    }

    /// Updates the track after a change.
    mutating func follow() { track.follow(self) }
}

/// The state that a status line shows.
public enum SyncActivity: Hashable, Sendable {
    /// The app did not ask to sync: before `connect`, after `disconnect`, while paused.
    case disconnected
    /// Connecting, taking in changes, or sending pending writes. The progress covers all of this since it began: it
    /// starts at 0, never goes back, and reaches 1 only with `upToDate`.
    case syncing(SyncProgress)
    /// Everything is sent and taken in; changes arrive as they happen. A new scope or two are then taken in without
    /// leaving this state: `SyncStatus.connection` and `SyncStore.isFilling(_:)` say more.
    case upToDate
    /// The obstacle is not the network but the server, the token or the device. Its code names it; most are tried again
    /// automatically, see `SyncStatus.connection`.
    case error(reason: SyncFailure)
    /// The operator has ended this version of the app: only this one and newer ones are served (empty if the server
    /// does not name it). Nothing is lost: writes stay on the device, are shown and counted as pending, and are sent
    /// after the update. Show the way to the app's store.
    case updateRequired(minimum: String)
    /// The server cannot be reached; the client keeps trying. `SyncStatus.failure` has the details.
    case offline
}

/// The progress of a task. In `SyncStatus.filled` it counts collections of scopes. In `SyncActivity.syncing` it also
/// counts the writes to send, and one step for taking in new changes.
public struct SyncProgress: Hashable, Sendable {
    /// The number of parts that are done.
    public var done: Int
    /// The number of all parts, including those that are done.
    public var total: Int
    /// In `SyncActivity.syncing`, the records received since it began. Their total is unknown: the server only says of
    /// a page whether it is the last one.
    public var records: Int
    /// The fraction that was shown already.
    private var floor: Double

    public init(done: Int, total: Int, records: Int = 0) {
        self.init(done: done, total: total, records: records, floor: 0)
    }

    init(done: Int, total: Int, records: Int, floor: Double) {
        self.done = done
        self.total = total
        self.records = records
        self.floor = floor
    }

    /// From 0 to 1; 1 when there is nothing to do.
    public var fraction: Double { max(floor, total == 0 ? 1 : Double(done) / Double(total)) }
}

/// The reason why nothing is sent for a while although the server is reachable.
public struct PushPause: Hashable, Sendable {
    /// The kind of pause.
    public enum Reason: String, Hashable, Sendable {
        /// This client sent more than its limit.
        case rateLimited = "rate_limited"
        /// The server is overloaded, or is about to restart.
        case overloaded
        /// The server cannot store anything at the moment.
        case unavailable
    }

    /// The server's reason.
    public var reason: Reason
    /// The time at which sending continues, in milliseconds since 1970.
    public var until: Int64

    public init(reason: Reason, until: Int64) {
        self.reason = reason
        self.until = until
    }

    /// Returns the pause with its end later by this many milliseconds.
    func moved(by milliseconds: Int64) -> PushPause { PushPause(reason: reason, until: until + milliseconds) }
}
