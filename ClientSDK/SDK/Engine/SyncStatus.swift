public import Foundation

/// How the store stands to its server; what an app shows in its status line.
///
///     for await status in store.status { line.show(status.activity, pending: status.pending) }
public struct SyncStatus: Hashable, Sendable {
    /// Where the engine is.
    public var phase: SyncPhase
    /// Server time up to which the local copy is known to be complete; `nil` before the first time.
    public var lastSync: Date?
    /// Transactions that are written here and not settled.
    public var pending = 0
    /// Transactions that got no answer too often, and those behind them in the same scopes: kept, shown, and tried again
    /// with the next connection or launch, or by `Outbox.retryFailed()`.
    public var failed = 0
    /// Transactions that the server refused for good; see `Outbox.parked()`.
    public var parked = 0
    /// Blobs that are kept here and not at the server yet.
    public var unsentBlobs = 0
    /// Blobs that the server refused; see `Blobs.unsent()`.
    public var failedBlobs = 0
    /// How much of what the account may see is here.
    public var filled = SyncProgress(done: 0, total: 0)
    /// There is no room on the device: nothing is taken in, and writes throw `StoreError` with `diskFull`. Tried again by
    /// itself.
    public var isDiskFull = false
    /// While the server limits what this client may send: until when, in milliseconds since 1970.
    public var pushPause: PushPause?

    init(phase: SyncPhase, lastSync: Date?) {
        self.phase = phase
        self.lastSync = lastSync
    }

    /// The same in five words.
    public var activity: SyncActivity {
        switch phase {
        case .stopped: .idle
        case .connecting, .catchingUp: .syncing(filled)
        case .live: pending > 0 && pushPause == nil ? .syncing(filled) : .completed
        case .offline: .offline
        case .waiting(_, let reason), .refused(let reason): .error(reason: reason)
        }
    }
}

/// What a status line says.
public enum SyncActivity: Hashable, Sendable {
    /// Not asked to sync: before `connect`, after `disconnect`, while paused.
    case idle
    /// Under way: connecting, taking in, or sending what is pending.
    case syncing(SyncProgress)
    /// Everything is sent and taken in; changes arrive as they happen.
    case completed
    /// The server was reached and refuses or fails; the reason is for logs and support.
    case error(reason: String)
    /// The server cannot be reached; tried again for ever.
    case offline
}

/// How far the account's scopes are filled, counted in collections of scopes.
public struct SyncProgress: Hashable, Sendable {
    /// Collections of scopes whose records are all here.
    public var done: Int
    /// Collections of scopes that the account holds.
    public var total: Int

    /// From 0 to 1; 1 when there is nothing to fill.
    public var fraction: Double { total == 0 ? 1 : Double(done) / Double(total) }
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

    /// The same with a time that is so much later.
    func moved(by milliseconds: Int64) -> PushPause { PushPause(reason: reason, until: until + milliseconds) }
}
