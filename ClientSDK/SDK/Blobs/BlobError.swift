/// Why bytes cannot be had.
///
///     do { image = try await store.blobs.read(digest, in: scope) } catch let error as BlobError where error.code == .offline {
///         showPreview()
///     }
public struct BlobError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What to branch on.
    public enum Code: String, Hashable, Sendable {
        /// They are not on this device, and there is no connection or it broke.
        case offline
        /// They are not on this device, and `BlobPolicy.networks` has them fetched over another kind of network.
        case otherNetwork
        /// The server has no such blob in this scope, or not yet, or the account may not read it: it says no more.
        case notThere
        /// Larger than `BlobPolicy.bytesMax`.
        case tooLarge
        /// The server cannot give them at the moment.
        case unavailable
        /// What came is not what the digest names; nothing of it was kept.
        case damaged
        /// More downloads are asked for than may wait.
        case busy
        /// The transport carries no blobs, or the server has none.
        case unsupported

        /// Asking again later may help.
        var isPassing: Bool {
            switch self {
            case .offline, .otherNetwork, .notThere, .unavailable, .damaged, .busy: true
            case .tooLarge, .unsupported: false
            }
        }
    }

    /// What kind of failure it is.
    public let code: Code
    /// A sentence for logs and support.
    public let message: String

    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { "\(code.rawValue): \(message)" }
}
