import NIOCore
import NIOHTTP1
import TidemarkLock

/// Counts open connections and what they hold, and says whether one more may come. Any thread.
final class ConnectionLedger: Sendable {
    /// What a connection may do.
    enum Admission {
        case everything
        /// All places are taken: it may ask how the server is, and nothing else.
        case probe
        case nothing
    }

    private struct State {
        var counts = LedgerCounts()
        /// Those that may only probe.
        var probes: [ObjectIdentifier: any Channel] = [:]
        /// Of connections whose other end is a proxy that is trusted.
        var clients: [ObjectIdentifier: Client] = [:]
    }

    /// For whom a proxy speaks.
    private struct Client {
        /// The connection's own address, or that of the header which it began with.
        var connection: SocketAddress?
        /// What its last request says; `nil` for nothing.
        var request: SocketAddress?
    }

    private let limits: EdgeLimits
    /// The proxies whose word counts; `nil` where clients come themselves.
    let proxies: TrustedProxies?
    let observe: @Sendable (EdgeNote) -> Void
    private let state = Lock(State())

    /// - Parameter observe: told of what is refused and closed.
    init(
        _ limits: EdgeLimits, proxies: TrustedProxies? = nil,
        observe: @escaping @Sendable (EdgeNote) -> Void = { _ in }
    ) {
        self.limits = limits
        self.proxies = proxies
        self.observe = observe
    }

    /// Admits a connection until it closes, or refuses it.
    func admit(_ channel: any Channel) -> Admission {
        let key = ObjectIdentifier(channel)
        let address = channel.remoteAddress
        // Whom a proxy's connection is for is told later.
        let isOfProxy = isTrusted(address)
        let network = isOfProxy ? nil : address?.network
        let (admission, evicted) = state.withLock { state in
            if isOfProxy { state.clients[key] = Client(connection: address) }
            let (admission, evicted) = state.counts.admit(key, from: network, limits)
            if admission == .probe { state.probes[key] = channel }
            return (admission, evicted.flatMap { state.probes[$0] })
        }
        if admission != .everything { observe(.refused(address)) }
        guard admission != .nothing else {
            if isOfProxy { state.withLock { $0.clients[key] = nil } }
            return .nothing
        }
        channel.closeFuture.whenComplete { _ in
            self.state.withLock { state in
                state.counts.release(key)
                state.probes[key] = nil
                state.clients[key] = nil
            }
        }
        evicted?.close(promise: nil)
        return admission
    }

    /// Whether an address is a proxy's whose word counts.
    func isTrusted(_ address: SocketAddress?) -> Bool { proxies?.contains(address) ?? false }

    /// Who is at the other end, as far as it can be told: behind a trusted proxy its client.
    func peer(of channel: any Channel) -> SocketAddress? {
        guard proxies != nil else { return channel.remoteAddress }
        let client = state.withLock { $0.clients[ObjectIdentifier(channel)] }
        guard let client else { return channel.remoteAddress }
        return client.request ?? client.connection
    }

    /// A trusted proxy said for whom the connection is, for as long as it is open. False when that address has too many.
    func place(_ channel: any Channel, at address: SocketAddress) -> Bool {
        let key = ObjectIdentifier(channel)
        let network = isTrusted(address) ? nil : address.network
        let hasRoom = state.withLock { state in
            state.clients[key] = Client(connection: address)
            return state.counts.move(key, to: network, limits)
        }
        if !hasRoom { observe(.refused(address)) }
        return hasRoom
    }

    /// A request begins; behind a trusted proxy it says for whom. False when that address has too many connections.
    func begin(_ headers: HTTPHeaders, on channel: any Channel) -> Bool {
        guard let proxies else { return true }
        let key = ObjectIdentifier(channel)
        guard let client = state.withLock({ $0.clients[key] }), isTrusted(client.connection) else { return true }
        var address: SocketAddress?
        switch proxies.client(in: headers) {
        case .client(let client): address = client
        case .unreadable: observe(.unforwarded(client.connection))
        case .nothing: break
        }
        let network = isTrusted(address) ? nil : address?.network
        let hasRoom = state.withLock { state in
            state.clients[key]?.request = address
            return state.counts.move(key, to: network, limits)
        }
        if !hasRoom { observe(.refused(address)) }
        return hasRoom
    }

    /// The connection has proved who it is.
    func markAuthenticated(_ channel: any Channel) {
        state.withLock { $0.counts.forgetStranger(ObjectIdentifier(channel)) }
    }

    /// The call of a connection is answered: from here on it is one of its address's again, as a connection that waits for
    /// its next call belongs to nobody. False when its address has too many, and it has to go.
    func markIdle(_ channel: any Channel) -> Bool {
        let key = ObjectIdentifier(channel)
        return state.withLock { state in
            // A connection of a proxy that waits for its next call is nobody's.
            let address = state.clients[key].map(\.connection) ?? channel.remoteAddress
            let network = isTrusted(address) ? nil : address?.network
            return state.counts.idle(key, from: network, limits)
        }
    }

    /// A connection that has not proved who it is has so many bytes of an unfinished message. False when there is no room
    /// for them; true for one that has.
    func hold(_ bytes: Int, for channel: any Channel) -> Bool {
        state.withLock { $0.counts.hold(bytes, for: ObjectIdentifier(channel), limits) }
    }

    /// Bytes that connections keep together which have not proved who they are.
    var unauthenticatedBytes: Int { state.withLock { $0.counts.unauthenticatedBytes } }

    func snapshot() -> EdgeCounts {
        state.withLock { state in
            let counts = state.counts
            return EdgeCounts(open: counts.open, unauthenticated: counts.unauthenticated, refused: counts.refused)
        }
    }
}

/// How many connections the edge has, for metrics.
package struct EdgeCounts: Sendable, Equatable {
    /// Connections open now, HTTP and WebSocket, and those that may only probe.
    package var open: Int
    /// Those of them that have not been marked as authenticated (connections over local sockets are not counted).
    package var unauthenticated: Int
    /// Connections refused since the start, by either bound.
    package var refused: Int
}
