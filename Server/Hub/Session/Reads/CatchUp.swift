import TidemarkModel
import TidemarkStore
import TidemarkWire

/// The path from a session's position to a snapshot of the head.
struct CatchUp: Sendable {
    /// The head of the snapshot.
    var target: Head
    /// Scopes that the client held before and holds in the snapshot: their changes are sent.
    var scopes: Set<ScopeID>
    /// The grants of the snapshot, in force once the target is reached.
    var grants: [ScopeID: Grant]
    /// The gained and lost grants that the last frame reports; empty when the welcome reported them.
    var changes: [Changes.GrantChange]
    /// The settlements of the client's own transactions that the last frame reports.
    var settled: Settled
    /// The count of numbers that the next window spans; adapts to the size of the results.
    var span: Int64 = 1_024

    static let spanMax: Int64 = 1 << 20
    static let spanMin: Int64 = 64

    /// Returns true for a change at or after the beginning of the grant. A client may hold a grant that is younger than
    /// its position. Changes before the grant come with the scope's pages; they were not for this user when they
    /// happened (I-11).
    func isDue(_ scope: ScopeID, at seq: SequenceNumber) -> Bool { seq >= grants[scope]?.since ?? 0 }

    /// Chooses the span with which this window would have filled a frame, but at least half and at most twice the
    /// present one.
    mutating func adapt(to bytes: Int, target: Int) {
        let filling = Double(span) * Double(target) / Double(max(bytes, 1))
        let next = min(max(filling, Double(span / 2)), Double(span * 2))
        span = min(max(Int64(next), Self.spanMin), Self.spanMax)
    }
}
