/// Bounds on the calls for blobs of one server process; how large a blob may be is in `WireLimits`, the quota in
/// `StoreLimits`. What is beyond one of these is answered by 429.
package struct BlobLimits: Hashable, Sendable {
    /// Uploads at once; each may have a whole blob in memory. The second half of them is for users who have none.
    package var uploadsMax = 16
    /// Uploads of one user at once.
    package var uploadsPerUserMax = 4
    /// Uploads a second that one user may sustain.
    package var uploadsPerSecond = 5
    /// Uploads that one user may begin at once after a pause.
    package var uploadsBurst = 100
    /// Downloads at once; each has a part of its blob in memory. The second half of them is for users who have none.
    package var downloadsMax = 256
    /// Downloads of one user at once.
    package var downloadsPerUserMax = 32
    /// Downloads and looks a second that one user may sustain.
    package var downloadsPerSecond = 50
    /// Downloads and looks that one user may begin at once after a pause.
    package var downloadsBurst = 500
    /// Blobs being written to the store at once; more wait in order.
    package var writesMax = 2
    /// Parts being read from the store at once; more wait in order, so that pages need not.
    package var readsMax = 2

    package init() {}
}
