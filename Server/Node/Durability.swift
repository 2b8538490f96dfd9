import Synchronization
import TidemarkModel
import TidemarkStore

/// Up to which number an order counts as safe from going back: devices keep what they wrote later, and offer it again if the
/// database does (LINEAGE.md). By age, which whoever runs the server sets: what has been in the backups for long enough. Any
/// thread.
final class Durability: Sendable {
    private struct Known {
        var epoch: Epoch
        var through: SequenceNumber
        var found: Milliseconds
    }

    private let store: any Store
    /// Milliseconds.
    private let age: Int64
    private let known = Mutex<[WorkspaceID: Known]>([:])
    /// Milliseconds for which an answer is good: it only grows.
    private static let lifetime: Int64 = 60_000
    private static let workspacesMax = 10_000

    init(store: any Store, age: Duration) {
        self.store = store
        self.age = age.milliseconds
    }

    /// The number of the last batch that is old enough, as of a snapshot; 0 where none is. A few dozen reads of one row, at most
    /// once a minute.
    func through(
        _ head: Head, after horizon: SequenceNumber, in workspace: WorkspaceID, now: Milliseconds
    ) async throws(StoreError) -> SequenceNumber {
        let before = known.withLock { $0[workspace] }
        // Of another epoch nothing is known: its numbers may be others'.
        let last = before.flatMap { $0.epoch == head.epoch && $0.through <= head.seq ? $0 : nil }
        if let last, now - last.found < Self.lifetime { return last.through }
        var search = HorizonSearch(olderThan: now - age, after: max(horizon, last?.through ?? 0), head: head)
        while let probe = search.probe { search.take(try await store.batch(holding: probe, in: workspace)) }
        let through = search.found?.seq ?? last?.through ?? 0
        known.withLock { known in
            if known.count >= Self.workspacesMax { known = [:] }
            known[workspace] = Known(epoch: head.epoch, through: through, found: now)
        }
        return through
    }
}
