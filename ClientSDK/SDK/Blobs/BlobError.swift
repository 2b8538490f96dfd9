/// The reason why the bytes of a blob are not available.
///
///     do { image = try await store.blobs.read(digest, in: scope) } catch let error as BlobError where error.code == .offline {
///         showPreview()
///     }
public struct BlobError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of failure, to branch on.
    public enum Code: String, Hashable, Sendable {
        /// The bytes are not on this device, and there is no connection or it broke.
        case offline
        /// The bytes are not on this device, and `BlobPolicy.networks` allows downloads over another kind of network
        /// only.
        case otherNetwork
        /// The server has no such blob in this scope, or not yet, or the account may not read it. The server does not
        /// say which.
        case notThere
        /// The blob is larger than `BlobPolicy.maxBytes`.
        case tooLarge
        /// The server cannot deliver the blob at the moment.
        case unavailable
        /// The received bytes do not match the digest; they were discarded.
        case damaged
        /// Too many downloads are waiting.
        case busy
        /// The transport carries no blobs, or the server stores none.
        case unsupported

        /// True when another attempt later may succeed.
        var isPassing: Bool {
            switch self {
            case .offline, .otherNetwork, .notThere, .unavailable, .damaged, .busy: true
            case .tooLarge, .unsupported: false
            }
        }
    }

    /// The kind of failure.
    public let code: Code
    /// A sentence for logs and support.
    public let message: String

    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { "\(code.rawValue): \(message)" }
}
