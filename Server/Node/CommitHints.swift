package import TidemarkModel
package import TidemarkStore

/// Notices from other nodes on the same store that a workspace's order has grown. They are only hints: the node reads
/// the store, which it also asks from time to time without a hint.
package protocol CommitHints: Sendable {
    /// Notifies the other nodes. Never waits; a hint may be folded with others or lost. Any thread.
    func announce(_ workspace: WorkspaceID, _ seq: SequenceNumber)

    /// Returns the hints of the other nodes, until the task is cancelled. Called once.
    func hints() -> AsyncStream<CommitHint>
}

/// The empty hints of a store that no other node shares.
package struct NoHints: CommitHints {
    package init() {}

    package func announce(_ workspace: WorkspaceID, _ seq: SequenceNumber) {}

    package func hints() -> AsyncStream<CommitHint> { AsyncStream { $0.finish() } }
}
