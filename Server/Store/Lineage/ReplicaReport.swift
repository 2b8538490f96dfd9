package import TidemarkModel

/// The progress of a database's standbys at one moment.
package struct ReplicaReport: Hashable, Sendable {
    /// The identity of the log that positions refer to: positions of different logs cannot be compared.
    package var log: String
    /// The position up to which the log had been written after `heads` were read: the heads' batches lie before it.
    package var written: Int64
    /// The position up to which the requested number of standbys have the log on disk; `nil` where there are fewer.
    package var confirmed: Int64?
    /// The stored ends of the orders.
    package var heads: [WorkspaceID: Head]

    package init(log: String, written: Int64, confirmed: Int64?, heads: [WorkspaceID: Head]) {
        self.log = log
        self.written = written
        self.confirmed = confirmed
        self.heads = heads
    }
}

/// A store whose database other machines follow.
package protocol ReplicaLog: Sendable {
    /// Returns what `count` standbys have, and the ends of these orders. A read-only copy of the database has no
    /// answer.
    func replicas(
        confirming count: Int, heads workspaces: [WorkspaceID]
    ) async throws(StoreError) -> ReplicaReport
}
