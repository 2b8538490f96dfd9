package import TidemarkStore

/// The limits that say when a server forgets old data (COMPACTION.md), and how fast.
package struct CompactionLimits: Hashable, Sendable {
    /// Milliseconds for which deleted data is kept; a workspace may have its own.
    package var keep: Int64 = 90 * 86_400_000
    /// Milliseconds for which an overwritten value is kept; the same as the store's own limit.
    package var ledgerLifetime = StoreLimits().ledgerLifetime
    /// Milliseconds beyond `keep` for which a client that does not connect is kept.
    package var clientGrace: Int64 = 30 * 86_400_000
    /// Milliseconds for which a blob is kept after its upload or its last mention, at least: an upload precedes the
    /// record that names it. A longer `keep` holds for blobs as well.
    package var blobKeepMin: Int64 = 7 * 86_400_000
    /// Milliseconds for which a blob cannot be read before it is deleted.
    package var blobWithdrawnFor: Int64 = 86_400_000
    /// The interval of looks for workspaces that are due.
    package var lookEvery: Duration = .seconds(60)
    /// The interval between two turns of one workspace.
    package var turnEvery: Duration = .seconds(3_600)
    /// The interval between two looks at all clients.
    package var clientsEvery: Duration = .seconds(21_600)
    /// Rows of each kind in one step.
    package var stepRows = 500
    /// The shortest pause between two steps.
    package var pause: Duration = .milliseconds(50)
    /// The rest after a step, as a multiple of its duration: compaction uses one part in `restFactor + 1` of a
    /// connection's time.
    package var restFactor = 4
    /// Steps of one turn; the remaining work waits for the next.
    package var turnSteps = 20_000
    /// Workspaces in one look.
    package var workspacesAtOnce = 1_000
    /// Clients in one look, and in one batch that removes them.
    package var clientsAtOnce = 500
    /// Pages that a database file returns in one step.
    package var stepPages = 256

    package init() {}

    /// Returns how long blobs stay in each stage if deleted data is kept for `keep` milliseconds.
    package func blobSpans(keep: Int64) -> BlobSpans {
        BlobSpans(kept: max(keep, blobKeepMin), withdrawn: blobWithdrawnFor)
    }
}
