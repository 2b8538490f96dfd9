package import TidemarkModel
package import TidemarkStore

/// Word from other nodes on the same store that a workspace's order has grown. Only ever a hint: what counts is read from
/// the store, which is also asked from time to time without one.
package protocol CommitHints: Sendable {
    /// Tells the other nodes; never waits, may be folded with others, may be lost. Any thread.
    func announce(_ workspace: WorkspaceID, _ seq: SequenceNumber)

    /// What the others tell, until the task is cancelled. Asked for once.
    func hints() -> AsyncStream<CommitHint>
}

/// The hints of a store that no other node shares: none.
package struct NoHints: CommitHints {
    package init() {}

    package func announce(_ workspace: WorkspaceID, _ seq: SequenceNumber) {}

    package func hints() -> AsyncStream<CommitHint> { AsyncStream { $0.finish() } }
}
