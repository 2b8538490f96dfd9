import Synchronization
import TidemarkModel
import TidemarkStore

/// The blobs of one server process: the store with the bounds on using it, and what was done. Any thread.
package final class BlobDesk: Sendable {
    /// Whose calls are counted together.
    struct Caller: Hashable, Sendable {
        var workspace: WorkspaceID
        var user: UserID
    }

    let store: any BlobStore
    let uploads: BlobBerths
    let downloads: BlobBerths
    let uploadRates: RateBook<Caller>
    let downloadRates: RateBook<Caller>
    let writeGate: ReadGate
    let readGate: ReadGate
    private let tally = Mutex(BlobCounts())

    init(store: any BlobStore, limits: BlobLimits) {
        self.store = store
        uploads = BlobBerths(max: limits.uploadsMax, perUserMax: limits.uploadsPerUserMax)
        downloads = BlobBerths(max: limits.downloadsMax, perUserMax: limits.downloadsPerUserMax)
        uploadRates = RateBook(perSecond: limits.uploadsPerSecond, burst: limits.uploadsBurst)
        downloadRates = RateBook(perSecond: limits.downloadsPerSecond, burst: limits.downloadsBurst)
        writeGate = ReadGate(permits: limits.writesMax)
        readGate = ReadGate(permits: limits.readsMax)
    }

    /// Counts of this moment.
    package var counts: BlobCounts {
        var counts = tally.withLock { $0 }
        counts.uploads = uploads.count
        counts.downloads = downloads.count
        return counts
    }

    func note(_ change: (inout BlobCounts) -> Void) { tally.withLock { change(&$0) } }
}
