package import NIOCore

/// What the edge tells of a connection that it does not serve, or serves no longer.
package enum EdgeNote: Sendable {
    /// All places are taken, or all of the address: the connection may ask how the server is, or is closed at once.
    case refused(SocketAddress?)
    /// The server begins to close a WebSocket with this code.
    case closing(UInt16, SocketAddress?)

    /// The other end; `nil` over a local socket.
    package var peer: SocketAddress? {
        switch self {
        case .refused(let peer), .closing(_, let peer): peer
        }
    }
}
