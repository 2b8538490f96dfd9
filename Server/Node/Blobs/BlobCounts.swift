/// Counts of a process's work with blobs since its start, for metrics.
package struct BlobCounts: Hashable, Sendable {
    /// Blobs kept, including those that were already stored.
    package var puts = 0
    /// Their bytes.
    package var bytesIn: Int64 = 0
    /// Downloads begun, without metadata requests and requests that need no bytes.
    package var gets = 0
    /// Bytes handed to their sockets.
    package var bytesOut: Int64 = 0
    /// Calls refused or failed, by their status.
    package var refusals: [Int: Int] = [:]
    /// Uploads in progress.
    package var uploads = 0
    /// Downloads in progress.
    package var downloads = 0

    package init() {}
}
