import TidemarkModel
import TidemarkOperations
import TidemarkStore

/// Begins new epochs in a restored database, so that new writes are not confused with the lost ones.
enum RestoredOrder {
    /// Begins a new epoch in each workspace that does not have one yet: after a kill some have.
    static func begin(_ summaries: [WorkspaceSummary], in store: some Store) async throws {
        let surroundings = ServerAssembly.Surroundings()
        for summary in summaries where summary.head.seq > 0 {
            let raise = EpochRaise(
                .standing(summary.head.epoch), reason: .restore, nonce: surroundings.nonce(), now: surroundings.now())
            _ = try await store.raiseEpoch(raise, in: summary.workspace)
        }
    }
}
