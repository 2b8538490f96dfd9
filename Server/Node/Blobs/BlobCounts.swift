/// What a process has done with blobs since its start, for metrics.
package struct BlobCounts: Hashable, Sendable {
    /// Blobs kept, those that were there already included.
    package var puts = 0
    /// Their bytes.
    package var bytesIn: Int64 = 0
    /// Downloads begun; without looks at what is there, and without those that need no bytes.
    package var gets = 0
    /// Bytes handed to their sockets.
    package var bytesOut: Int64 = 0
    /// Calls refused or failed, by their status.
    package var refusals: [Int: Int] = [:]
    /// Uploads now.
    package var uploads = 0
    /// Downloads now.
    package var downloads = 0

    package init() {}
}
