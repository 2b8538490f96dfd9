/// Where the bytes of a blob are, as this device knows it.
public enum BlobStatus: Hashable, Sendable {
    /// Here, and not at the server yet: sent as soon as there is a connection and the scope is held.
    case waiting
    /// Here and at the server.
    case held
    /// Not here; the server may have them.
    case absent
    /// Here, and the server refused them. They stay, and are sent again by hand and at the next launch.
    case failed(BlobFailure)
}

/// Why the server refused a blob for good.
public enum BlobFailure: String, Codable, Hashable, Sendable {
    /// Larger than the server takes.
    case tooLarge = "too_large"
    /// The account may not write in the scope, or there is no such scope (any more).
    case notThere = "not_there"
    /// The workspace's room for blobs is used up.
    case quota
    /// The server got other bytes than were sent, or cannot read the name of the scope.
    case invalid
    /// The transport carries no blobs, or the server has none.
    case unsupported
}
