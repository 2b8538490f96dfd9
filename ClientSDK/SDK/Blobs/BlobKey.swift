package import TidemarkModel

/// A digest in a scope: the same bytes in two scopes have two keys.
package struct BlobKey: Hashable, Sendable, CustomStringConvertible {
    package let scope: ScopeID
    package let digest: BlobDigest

    package var description: String { "\(scope)/\(digest)" }
}
