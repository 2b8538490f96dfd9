/// Bounds on the calls for blobs of one server process. Excess calls are answered by 429. `WireLimits` bounds the size
/// of a blob, `StoreLimits` sets the quota.
package struct BlobLimits: Hashable, Sendable {
    /// Uploads at once; each may have a whole blob in memory. The second half is reserved for users without an upload.
    package var uploadsMax = 16
    /// Uploads of one user at once.
    package var uploadsPerUserMax = 4
    /// Uploads a second that one user may sustain.
    package var uploadsPerSecond = 5
    /// Uploads that one user may begin at once after a pause.
    package var uploadsBurst = 100
    /// Downloads at once; each has a part of its blob in memory. The second half is reserved for users without a
    /// download.
    package var downloadsMax = 256
    /// Downloads of one user at once.
    package var downloadsPerUserMax = 32
    /// Downloads and metadata requests a second that one user may sustain.
    package var downloadsPerSecond = 50
    /// Downloads and metadata requests that one user may begin at once after a pause.
    package var downloadsBurst = 500
    /// Blobs that are written to the store at once; more wait in order.
    package var writesMax = 2
    /// Parts that are read from the store at once; more wait in order, so that pages need not wait.
    package var readsMax = 2

    package init() {}
}
