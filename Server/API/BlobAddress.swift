import Foundation
import TidemarkHub
import TidemarkModel

/// Which blob of which scope a call is about.
struct BlobAddress: Hashable {
    let digest: BlobDigest
    let scope: ScopeID

    /// - Parameters:
    ///   - digest: as it stands in the path.
    ///   - query: as it came, percent-encoded; other members are ignored.
    init(digest: String, query: String?) throws(BlobRefusal) {
        guard let digest = BlobDigest(checking: digest) else {
            throw .malformed("the address wants a SHA-256 in 64 lower-case hexadecimal digits")
        }
        let scopes = (query ?? "").split(separator: "&").map { $0.split(separator: "=", maxSplits: 1) }
            .filter { $0.first == "scope" }
        guard scopes.count == 1, let text = scopes.first?.dropFirst().first?.removingPercentEncoding,
            let scope = ScopeID(checking: text)
        else { throw .malformed("the address wants one ?scope=, percent-encoded") }
        self.digest = digest
        self.scope = scope
    }
}
