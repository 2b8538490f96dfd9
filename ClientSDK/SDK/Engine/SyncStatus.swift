public import Foundation

/// How the store stands to its server; what an app shows in its status line.
public struct SyncStatus: Hashable, Sendable {
    /// Where the engine is.
    public var phase: SyncPhase
    /// Server time up to which the local copy is known to be complete; `nil` before the first time.
    public var lastSync: Date?

    init(phase: SyncPhase, lastSync: Date?) {
        self.phase = phase
        self.lastSync = lastSync
    }
}
