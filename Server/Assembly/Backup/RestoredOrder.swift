import TidemarkModel
import TidemarkOperations
import TidemarkStore

/// The orders of a database that was restored: what is written next must not be taken for what was lost.
enum RestoredOrder {
    /// Begins a new epoch in each workspace, where it has not begun yet.
    ///
    /// Until stores can do that, nonces alone tell the two histories apart: a batch that is written next has the number
    /// of a lost one and another nonce, so that a cursor behind it is refused.
    static func begin(_ summaries: [WorkspaceSummary], in store: some Store) async throws {}
}
