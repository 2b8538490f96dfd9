/// The state of a blob's bytes, as this device knows it.
public enum BlobStatus: Hashable, Sendable {
    /// On the device and not on the server: sent as soon as there is a connection and the scope is held.
    case waiting
    /// On the device and on the server.
    case held
    /// Not on the device; the server may have them.
    case absent
    /// On the device, and rejected by the server. They stay, and are sent again by `Blobs.retry` and at the next
    /// launch.
    case rejected(BlobFailure)
}

/// The reason why the server rejected a blob permanently.
public enum BlobFailure: String, Codable, Hashable, Sendable {
    /// The blob is larger than the server accepts.
    case tooLarge = "too_large"
    /// The account may not write in the scope, or the scope does not exist (any more).
    case notThere = "not_there"
    /// The workspace has used up its storage for blobs.
    case quota
    /// The server received other bytes than were sent, or the scope's name is invalid.
    case invalid
    /// The transport carries no blobs, or the server stores none.
    case unsupported
}
