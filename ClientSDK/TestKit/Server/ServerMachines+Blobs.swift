import Foundation
import Tidemark
import TidemarkModel
import TidemarkSession
import TidemarkStore

/// The blobs of the kit's server, under the same rules of access.
extension ServerMachines {
    mutating func put(_ bytes: Data, as digest: BlobDigest, in scope: ScopeID, by user: UserID) -> BlobAnswer {
        guard isMember(user, of: scope) else { return .init(status: 404, retryAfter: nil, body: Data()) }
        guard BlobDigest(of: bytes) == digest else { return .init(status: 422, retryAfter: nil, body: Data()) }
        let isThere = shelf[scope]?[digest] != nil
        shelf[scope, default: [:]][digest] = bytes
        return BlobAnswer(status: isThere ? 200 : 201, retryAfter: nil, body: Data())
    }

    func blob(_ digest: BlobDigest, in scope: ScopeID, for user: UserID) -> BlobAnswer {
        guard isMember(user, of: scope), let bytes = shelf[scope]?[digest] else {
            return .init(status: 404, retryAfter: nil, body: Data())
        }
        return BlobAnswer(status: 200, retryAfter: nil, body: bytes)
    }

    private func isMember(_ user: UserID, of scope: ScopeID) -> Bool {
        let grants = tables.session(for: user, client: nil, in: Self.workspace).grants + context.sharedGrants
        return grants.contains { $0.scope == scope }
    }
}
