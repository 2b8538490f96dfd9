package import TidemarkModel

/// A message from another node that a workspace's order has grown.
package enum CommitHint: Hashable, Sendable {
    /// The workspace's order reaches at least to this number.
    case grown(WorkspaceID, SequenceNumber)
    /// Any workspace may have grown: hints were lost, or there were too many.
    case unknown
}
