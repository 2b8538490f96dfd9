public import Foundation

/// How the store stands to its server; what an app shows in its status line.
///
///     for await status in store.status { line.show(status.activity, pending: status.pending) }
public struct SyncStatus: Hashable, Sendable {
    /// Where the engine is, step by step; `activity` is what to show.
    public var phase: SyncPhase
    /// Server time up to which the local copy is known to be complete; `nil` before the first time.
    public var lastSync: Date?
    /// Transactions that are written here and not settled.
    public var pending = 0
    /// Transactions that got no answer too often, and those behind them in the same scopes: kept, shown, and tried again
    /// with the next connection or launch, after half a minute or more on a connection that stays, or by `Outbox.retryFailed()`.
    public var failed = 0
    /// Transactions that the server refused for good; see `Outbox.parked()`.
    public var parked = 0
    /// Blobs that are kept here and not at the server yet.
    public var unsentBlobs = 0
    /// Blobs that the server refused; see `Blobs.unsent()`.
    public var failedBlobs = 0
    /// How much of what the account may see is here.
    public var filled = SyncProgress(done: 0, total: 0)
    /// Records that came from the server since the store was opened, in pages and as changes.
    public var received = 0
    /// The kind of network that the system names; `nil` without one, and where the system names none, as on Linux.
    public var network: NetworkKind?
    /// Blobs are neither sent nor fetched, since `BlobPolicy.networks` does not have this kind of network. They wait for another.
    public var isHoldingBlobs = false
    /// Scopes of the user that are not on this device, since a connection holds no more: those with the oldest grants. While there
    /// are any, `activity` is an error with the code `scopesLeftOut`, for what is here is not all that there is.
    public var scopesLeftOut = 0
    /// There is no room on the device: nothing is taken in, and writes throw `StoreError` with `diskFull`. Tried again by
    /// itself.
    public var isDiskFull = false
    /// While the server limits what this client may send: until when, in milliseconds since 1970.
    public var pushPause: PushPause?
    private var track = ActivityTrack()

    public init(phase: SyncPhase, lastSync: Date?) {
        self.phase = phase
        self.lastSync = lastSync
        track.follow(self)
    }

    /// True while what is pending goes out. Else it is *queued*: there is no connection, or the server wants nothing for a while.
    public var isSending: Bool { pending > 0 && phase.isConnected && pushPause == nil }

    /// Blobs go up and down now.
    var carriesBlobs: Bool { phase.isConnected && !isHoldingBlobs }

    /// Blobs that go out with this connection.
    var blobsToSend: Int { isHoldingBlobs ? 0 : unsentBlobs }

    /// Why the store is not in step; `nil` when nothing is the matter. It stays while the next attempt is made, until the
    /// server has welcomed: a code to switch over, and words for support.
    public var failure: SyncFailure? {
        if let failure = track.failure { return failure }
        guard phase == .live else { return nil }
        if failed > 0 {
            return SyncFailure(
                .writesWithheld, "\(failed) got no answer; they are sent again in a while")
        }
        guard scopesLeftOut > 0 else { return nil }
        return SyncFailure(
            .scopesLeftOut, "\(scopesLeftOut) scopes do not fit on a connection, and are not on this device")
    }

    /// The same in five words.
    ///
    /// While the server is tried again it goes on to say what was the matter: nothing is under way before somebody answers.
    public var activity: SyncActivity {
        switch phase {
        case .stopped: .idle
        case .connecting, .catchingUp, .live, .waiting, .offline, .refused:
            if isUnderWay(track) {
                .syncing(track.progress)
            } else if let minimum = failure?.minimumApp {
                .updateRequired(minimum: minimum)
            } else if let failure {
                failure.isOffline ? .offline : .error(reason: failure)
            } else {
                .completed
            }
        }
    }

    /// Connecting for the first time, taking in, or with something to send to a server that is there.
    func isUnderWay(_ track: ActivityTrack) -> Bool {
        switch phase {
        case .stopped, .waiting, .offline, .refused: false
        case .connecting: track.failure == nil
        case .catchingUp, .live: !track.isInStep || pending > 0 || blobsToSend > 0
        }
    }

    /// Takes note of itself after a change.
    mutating func follow() { track.follow(self) }
}

/// What a status line says.
public enum SyncActivity: Hashable, Sendable {
    /// Not asked to sync: before `connect`, after `disconnect`, while paused.
    case idle
    /// Under way: connecting, taking in, or sending what is pending. The progress is that of all this since it began: it
    /// starts at 0, never goes back, and is 1 for nothing before it is `completed`.
    case syncing(SyncProgress)
    /// Everything is sent and taken in; changes arrive as they happen. A scope or two that arrive then are taken in without leaving
    /// it: `SyncStatus.phase` and `SyncStore.isFilling(_:)` say more. `StatusLine.activity` is `idle` two seconds later.
    case completed
    /// Something else than the network is in the way: the server, the token, the device. Its code says what; most are
    /// tried again by themselves, see `SyncStatus.phase`.
    case error(reason: SyncFailure)
    /// Who runs the server has ended this version of the app: only this one and newer ones are served (empty where the server
    /// does not tell which). Nothing is lost: what is written stays on the device, shown and counted as pending, and is sent
    /// after the update. Show the way to the app's store.
    case updateRequired(minimum: String)
    /// The server cannot be reached; tried again for ever. `SyncStatus.failure` has the details.
    case offline
}

/// How much of something is done. In `SyncStatus.filled` it counts collections of scopes; in `SyncActivity.syncing` also
/// what is to be sent, and one for taking in what is new.
public struct SyncProgress: Hashable, Sendable {
    /// What is done.
    public var done: Int
    /// What there is, with what is done.
    public var total: Int
    /// In `SyncActivity.syncing`, the records that have come since it began. How many are to come nobody knows: the server says
    /// of a page only whether it is the last one.
    public var records: Int
    /// What was shown already.
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

/// Why nothing is sent for a while although the server is there.
public struct PushPause: Hashable, Sendable {
    /// Why.
    public enum Reason: String, Hashable, Sendable {
        /// This client sent more than it may.
        case rateLimited = "rate_limited"
        /// The server has too much to do, or is about to restart.
        case overloaded
        /// The server cannot store anything at the moment.
        case unavailable
    }

    /// What the server said.
    public var reason: Reason
    /// When sending goes on, in milliseconds since 1970.
    public var until: Int64

    public init(reason: Reason, until: Int64) {
        self.reason = reason
        self.until = until
    }

    /// The same with a time that is so much later.
    func moved(by milliseconds: Int64) -> PushPause { PushPause(reason: reason, until: until + milliseconds) }
}
