public import Foundation
public import TidemarkModel

/// Bytes that were kept on this device and are not at the server yet.
public struct UnsentBlob: Hashable, Sendable {
    /// Their name.
    public let digest: BlobDigest
    /// Where they belong.
    public let scope: ScopeID
    /// How many they are.
    public let byteCount: Int
    /// When they were kept, by the device's clock.
    public let since: Date
    /// How often they were sent without success since the last wish to send them.
    public let attempts: Int
    /// Why the server refused them; `nil` while they are tried again by themselves.
    public let failure: BlobFailure?
    /// What went wrong last, for support.
    public let lastError: String?

    public init(
        digest: BlobDigest, scope: ScopeID, byteCount: Int, since: Date, attempts: Int = 0,
        failure: BlobFailure? = nil, lastError: String? = nil
    ) {
        self.digest = digest
        self.scope = scope
        self.byteCount = byteCount
        self.since = since
        self.attempts = attempts
        self.failure = failure
        self.lastError = lastError
    }
}
