import TidemarkLock
package import TidemarkStore

/// The blobs of one server process: the store, the bounds on its use, and counts. Any thread.
package final class BlobService: Sendable {
    package let store: any BlobStore
    package let uploads: TransferSlots
    package let downloads: TransferSlots
    package let uploadRates: RateBook<Caller>
    package let downloadRates: RateBook<Caller>
    package let writeGate: ReadGate
    package let readGate: ReadGate
    private let tally = Lock(BlobCounts())

    init(store: any BlobStore, limits: BlobLimits) {
        self.store = store
        uploads = TransferSlots(max: limits.uploadsMax, perUserMax: limits.uploadsPerUserMax)
        downloads = TransferSlots(max: limits.downloadsMax, perUserMax: limits.downloadsPerUserMax)
        uploadRates = RateBook(perSecond: limits.uploadsPerSecond, burst: limits.uploadsBurst)
        downloadRates = RateBook(perSecond: limits.downloadsPerSecond, burst: limits.downloadsBurst)
        writeGate = ReadGate(permits: limits.writesMax)
        readGate = ReadGate(permits: limits.readsMax)
    }

    /// The counts at this moment.
    package var counts: BlobCounts {
        var counts = tally.withLock { $0 }
        counts.uploads = uploads.count
        counts.downloads = downloads.count
        return counts
    }

    /// Changes the counts.
    package func note(_ change: (inout BlobCounts) -> Void) { tally.withLock { change(&$0) } }
}
