import TidemarkModel
import TidemarkStore
import TidemarkWire

/// The way from a session's position to a snapshot of the head.
struct CatchUp: Sendable {
    /// Where the snapshot stands.
    var target: Head
    /// Scopes that the client held before and holds in the snapshot: their changes are sent.
    var scopes: Set<ScopeID>
    /// The grants of the snapshot, in force once the target is reached.
    var grants: [ScopeID: Grant]
    /// What the last frame tells of grants gained and lost; empty when the welcome told.
    var changes: [Changes.GrantChange]
    /// What the last frame tells of the client's own transactions.
    var settled: Settled
    /// Numbers that the next window spans; adapts to what comes back.
    var span: Int64 = 1_024

    static let spanMax: Int64 = 1 << 20
    static let spanMin: Int64 = 64

    /// True for what changed under the grant. A client may hold a grant that is younger than its position; what came
    /// before the grant comes with the scope's pages, and was not for this user when it happened (I-11).
    func isDue(_ scope: ScopeID, at seq: SequenceNumber) -> Bool { seq >= grants[scope]?.since ?? 0 }

    /// Chooses the span with which this window would have filled a frame, but no less than half and no more than twice its own.
    mutating func adapt(to bytes: Int, target: Int) {
        let filling = Double(span) * Double(target) / Double(max(bytes, 1))
        let next = min(max(filling, Double(span / 2)), Double(span * 2))
        span = min(max(Int64(next), Self.spanMin), Self.spanMax)
    }
}
