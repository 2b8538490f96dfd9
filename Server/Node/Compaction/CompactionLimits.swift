package import TidemarkStore

/// When a server forgets what is old (COMPACTION.md), and how fast.
package struct CompactionLimits: Hashable, Sendable {
    /// Milliseconds that what is deleted is kept; a workspace may have its own.
    package var keep: Int64 = 90 * 86_400_000
    /// Milliseconds that an overwritten value is kept; as the store's own limit.
    package var ledgerLifetime = StoreLimits().ledgerLifetime
    /// Milliseconds that a client which nobody sees is kept beyond that.
    package var clientGrace: Int64 = 30 * 86_400_000
    /// Milliseconds that a blob is left alone after it was put, or was named, at least: an upload comes before the record that
    /// names it. A longer `keep` holds for blobs as well.
    package var blobKeepMin: Int64 = 7 * 86_400_000
    /// Milliseconds that a blob cannot be read before it is taken away.
    package var blobWithdrawnFor: Int64 = 86_400_000
    /// How often it is looked whose turn it is.
    package var lookEvery: Duration = .seconds(60)
    /// Between two turns of one workspace.
    package var turnEvery: Duration = .seconds(3_600)
    /// Between two looks at all clients.
    package var clientsEvery: Duration = .seconds(21_600)
    /// Rows of each kind in one step.
    package var stepRows = 500
    /// Between two steps, at least.
    package var pause: Duration = .milliseconds(50)
    /// So many times as long as a step took, nothing is done after it: one part in `restFactor + 1` of one connection's time.
    package var restFactor = 4
    /// Steps of one turn; what is left waits for the next.
    package var turnSteps = 20_000
    /// Workspaces in one look.
    package var workspacesAtOnce = 1_000
    /// Clients in one look, and in one batch that removes them.
    package var clientsAtOnce = 500
    /// Pages that a file gives back in one step.
    package var stepPages = 256

    package init() {}

    /// How long blobs stay in each stage, where what is deleted is kept for so many milliseconds.
    package func blobSpans(keep: Int64) -> BlobSpans {
        BlobSpans(kept: max(keep, blobKeepMin), withdrawn: blobWithdrawnFor)
    }
}
