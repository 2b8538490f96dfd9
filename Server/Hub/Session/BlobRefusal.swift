/// The reason why a blob was not kept or not returned (PROTOCOL.md, "Blobs").
package enum BlobRefusal: Error, Hashable, Sendable {
    /// The request's path has no digest, or not one scope.
    case malformed(String)
    /// The scope has no such blob, does not exist, or is not the user's: the answer does not reveal which.
    case notFound
    case lengthRequired
    /// - Parameter bytesMax: the maximum size of a blob.
    case tooLarge(bytesMax: Int)
    /// The digest of the bytes is another one.
    case otherDigest
    /// The workspace's quota is used up.
    case quotaUsedUp

    /// The status of the HTTP answer.
    package var status: Int {
        switch self {
        case .malformed: 400
        case .notFound: 404
        case .lengthRequired: 411
        case .tooLarge: 413
        case .otherDigest: 422
        case .quotaUsedUp: 507
        }
    }

    /// The code of the answer, for programs.
    package var code: String {
        switch self {
        case .malformed: "invalid"
        case .notFound: "not_found"
        case .lengthRequired: "length_required"
        case .tooLarge: "too_large"
        case .otherDigest: "digest_mismatch"
        case .quotaUsedUp: "quota"
        }
    }

    /// A sentence for people: the error, and what to do.
    package var message: String {
        switch self {
        case .malformed(let reason): "blob: \(reason)"
        case .notFound: "blob: no such blob or scope for you"
        case .lengthRequired: "blob: send Content-Length"
        case .tooLarge(let bytesMax): "blob: more than \(bytesMax) bytes; send a smaller one"
        case .otherDigest: "blob: the SHA-256 of the bytes is not the one in the path; compute it again"
        case .quotaUsedUp: "blob: the workspace's quota is used up; the operator of the server can raise it"
        }
    }
}
