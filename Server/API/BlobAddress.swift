import Foundation
import TidemarkHub
import TidemarkModel

/// Which blob of which scope a call is about.
struct BlobAddress: Hashable {
    let digest: BlobDigest
    let scope: ScopeID
    /// The device that asks, where it says so.
    let client: ClientID?

    /// - Parameters:
    ///   - digest: as it stands in the path.
    ///   - query: as it came, percent-encoded; other members are ignored.
    init(digest: String, query: String?) throws(BlobRefusal) {
        guard let digest = BlobDigest(checking: digest) else {
            throw .malformed("the address wants a SHA-256 in 64 lower-case hexadecimal digits")
        }
        let members = (query ?? "").split(separator: "&").map { $0.split(separator: "=", maxSplits: 1) }
        let scopes = members.filter { $0.first == "scope" }
        guard scopes.count == 1, let text = scopes.first?.dropFirst().first?.removingPercentEncoding,
            let scope = ScopeID(checking: text)
        else { throw .malformed("the address wants one ?scope=, percent-encoded") }
        let clients = members.filter { $0.first == "client" }
        client = try clients.last.map { member throws(BlobRefusal) in
            guard let id = member.dropFirst().first.flatMap({ UniqueID(String($0)) }) else {
                throw .malformed("the address names a client that is none")
            }
            return id
        }
        self.digest = digest
        self.scope = scope
    }
}
