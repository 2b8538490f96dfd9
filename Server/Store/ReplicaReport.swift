package import TidemarkModel

/// How far the standbys of a database have followed it, at one moment.
package struct ReplicaReport: Hashable, Sendable {
    /// Names the log that positions are in: those of another cannot be compared with them.
    package var log: String
    /// How far the log had been written after `heads` were read: what they end with lies before.
    package var written: Int64
    /// The position up to which as many standbys as were asked for have the log on disk; `nil` where there are fewer.
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
    /// What so many standbys have, and where these orders end. A copy that cannot be written has no answer.
    func replicas(
        confirming count: Int, heads workspaces: [WorkspaceID]
    ) async throws(StoreError) -> ReplicaReport
}
