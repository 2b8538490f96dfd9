public import Foundation
public import TidemarkModel

/// Bytes on this device that are not on the server yet.
public struct UnsentBlob: Hashable, Sendable {
    /// The digest of the bytes.
    public let digest: BlobDigest
    /// The scope of the bytes.
    public let scope: ScopeID
    /// The number of bytes.
    public let byteCount: Int
    /// The time when they were added, by the device's clock.
    public let addedAt: Date
    /// The number of failed attempts since the last request to send the bytes.
    public let attempts: Int
    /// The reason why the server refused the bytes; `nil` while they are tried again automatically.
    public let failure: BlobFailure?
    /// The last error, for support.
    public let lastError: String?

    public init(
        digest: BlobDigest, scope: ScopeID, byteCount: Int, addedAt: Date, attempts: Int = 0,
        failure: BlobFailure? = nil, lastError: String? = nil
    ) {
        self.digest = digest
        self.scope = scope
        self.byteCount = byteCount
        self.addedAt = addedAt
        self.attempts = attempts
        self.failure = failure
        self.lastError = lastError
    }
}
