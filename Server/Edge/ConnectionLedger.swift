import NIOCore
import NIOHTTP1
import TidemarkLock

/// Counts open connections and the bytes they hold, and decides whether one more is admitted. Any thread.
final class ConnectionLedger: Sendable {
    /// The requests that a connection may make.
    enum Admission {
        case everything
        /// All slots are taken: the connection may ask for the server's health, and nothing else.
        case probe
        case nothing
    }

    private struct State {
        var counts = LedgerCounts()
        /// Connections that may only probe.
        var probes: [ObjectIdentifier: any Channel] = [:]
        /// The clients of connections whose peer is a trusted proxy.
        var clients: [ObjectIdentifier: Client] = [:]
    }

    /// The client for which a proxy forwards.
    private struct Client {
        /// The connection's own address, or the one in the proxy header at its beginning.
        var connection: SocketAddress?
        /// The client's address in the last request; `nil` if it has none.
        var request: SocketAddress?
    }

    private let limits: EdgeLimits
    /// The trusted proxies; `nil` if clients connect directly.
    let proxies: TrustedProxies?
    let observe: @Sendable (EdgeNote) -> Void
    private let state = Lock(State())

    /// - Parameter observe: receives refusals and closes.
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
        // A proxy states its client's address later.
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

    /// Whether an address is a trusted proxy's.
    func isTrusted(_ address: SocketAddress?) -> Bool { proxies?.contains(address) ?? false }

    /// Returns the peer's address, if it is known: behind a trusted proxy, its client's.
    func peer(of channel: any Channel) -> SocketAddress? {
        guard proxies != nil else { return channel.remoteAddress }
        let client = state.withLock { $0.clients[ObjectIdentifier(channel)] }
        guard let client else { return channel.remoteAddress }
        return client.request ?? client.connection
    }

    /// Sets the client's address of a connection for as long as it is open, as its trusted proxy states. False when
    /// that address has too many.
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

    /// Begins a request; behind a trusted proxy its headers name the client. False when that address has too many
    /// connections.
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

    /// Marks a connection as authenticated.
    func markAuthenticated(_ channel: any Channel) {
        state.withLock { $0.counts.forgetStranger(ObjectIdentifier(channel)) }
    }

    /// Counts a connection whose call is answered for its address again: while it waits for its next call, it belongs
    /// to no user. False when its address has too many, and it must be closed.
    func markIdle(_ channel: any Channel) -> Bool {
        let key = ObjectIdentifier(channel)
        return state.withLock { state in
            // A proxy's connection that waits for its next call belongs to no client.
            let address = state.clients[key].map(\.connection) ?? channel.remoteAddress
            let network = isTrusted(address) ? nil : address?.network
            return state.counts.idle(key, from: network, limits)
        }
    }

    /// Counts the bytes of an unfinished message on an unauthenticated connection. False when there is no room
    /// for them; true for an authenticated one.
    func hold(_ bytes: Int, for channel: any Channel) -> Bool {
        state.withLock { $0.counts.hold(bytes, for: ObjectIdentifier(channel), limits) }
    }

    /// Bytes of unfinished messages that all unauthenticated connections hold together.
    var unauthenticatedBytes: Int { state.withLock { $0.counts.unauthenticatedBytes } }

    func snapshot() -> EdgeCounts {
        state.withLock { state in
            let counts = state.counts
            return EdgeCounts(open: counts.open, unauthenticated: counts.unauthenticated, refused: counts.refused)
        }
    }
}

/// The number of the edge's connections, for metrics.
package struct EdgeCounts: Sendable, Equatable {
    /// Connections open now: HTTP, WebSocket, and those that may only probe.
    package var open: Int
    /// Open connections that are not authenticated (connections over local sockets are not counted).
    package var unauthenticated: Int
    /// Connections refused since the start, by either bound.
    package var refused: Int
}
