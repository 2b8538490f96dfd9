package import TidemarkModel

/// A blob in a scope: the same bytes in two scopes are two of these.
package struct BlobKey: Hashable, Sendable, CustomStringConvertible {
    package let scope: ScopeID
    package let digest: BlobDigest

    package init(scope: ScopeID, digest: BlobDigest) {
        self.scope = scope
        self.digest = digest
    }

    package var description: String { "\(scope)/\(digest)" }
}
