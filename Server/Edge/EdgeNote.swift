package import NIOCore

/// What the edge tells of a connection that it does not serve, or serves no longer.
package enum EdgeNote: Sendable {
    /// All places are taken, or all of the address: the connection may ask how the server is, or is closed at once.
    case refused(SocketAddress?)
    /// The server begins to close a WebSocket with this code.
    case closing(UInt16, SocketAddress?)
    /// The connection ended before it could say a word of HTTP.
    case unopened(OpeningFault, SocketAddress?)
    /// A trusted proxy said in no readable way for whom a request is: it counts as the proxy's own.
    case unforwarded(SocketAddress?)
    /// A request was refused for the name it came by, or for the page that made it.
    case misdirected(SiteCheck.Fault, SocketAddress?)

    /// The other end; `nil` over a local socket.
    package var peer: SocketAddress? {
        switch self {
        case .refused(let peer), .closing(_, let peer), .unopened(_, let peer), .unforwarded(let peer),
            .misdirected(_, let peer):
            peer
        }
    }

    /// Why a connection could not begin.
    package enum OpeningFault: String, CaseIterable, Sendable {
        /// Plain text came where TLS is spoken.
        case plainText = "plain_text"
        /// TLS could not agree.
        case handshake
        /// A proxy that has to say first whom the connection is for did not, or not in time.
        case proxyHeader = "proxy_header"
    }
}
