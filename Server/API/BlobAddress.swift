import Foundation
import TidemarkHub
import TidemarkModel

/// The blob and scope that a call names.
struct BlobAddress: Hashable {
    let digest: BlobDigest
    let scope: ScopeID
    /// The device that calls, if the call names it.
    let client: ClientID?

    /// - Parameters:
    ///   - digest: the digest in the path.
    ///   - query: the query, percent-encoded; other members are ignored.
    init(digest: String, query: String?) throws(BlobRefusal) {
        guard let digest = BlobDigest(checking: digest) else {
            throw .malformed("the address needs a SHA-256 in 64 lower-case hexadecimal digits")
        }
        let members = (query ?? "").split(separator: "&").map { $0.split(separator: "=", maxSplits: 1) }
        let scopes = members.filter { $0.first == "scope" }
        guard scopes.count == 1, let text = scopes.first?.dropFirst().first?.removingPercentEncoding,
            let scope = ScopeID(checking: text)
        else { throw .malformed("the address needs one ?scope=, percent-encoded") }
        let clients = members.filter { $0.first == "client" }
        client = try clients.last.map { member throws(BlobRefusal) in
            guard let id = member.dropFirst().first.flatMap({ UniqueID(String($0)) }) else {
                throw .malformed("the address has a \"client\" that is not a client id")
            }
            return id
        }
        self.digest = digest
        self.scope = scope
    }
}
