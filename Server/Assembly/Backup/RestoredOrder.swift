import TidemarkModel
import TidemarkOperations
import TidemarkStore

/// The orders of a database that was restored: what is written next must not be taken for what was lost.
enum RestoredOrder {
    /// Begins a new epoch in each workspace, where it has not begun yet: after a kill some may have.
    static func begin(_ summaries: [WorkspaceSummary], in store: some Store) async throws {
        let surroundings = ServerAssembly.Surroundings()
        for summary in summaries where summary.head.seq > 0 {
            let raise = EpochRaise(
                .standing(summary.head.epoch), reason: .restore, nonce: surroundings.nonce(), now: surroundings.now())
            _ = try await store.raiseEpoch(raise, in: summary.workspace)
        }
    }
}
