import NIOCore
import Synchronization

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
    }

    private let limits: EdgeLimits
    let observe: @Sendable (EdgeNote) -> Void
    private let state = Mutex(State())

    /// - Parameter observe: told of what is refused and closed.
    init(_ limits: EdgeLimits, observe: @escaping @Sendable (EdgeNote) -> Void = { _ in }) {
        self.limits = limits
        self.observe = observe
    }

    /// Admits a connection until it closes, or refuses it.
    func admit(_ channel: any Channel) -> Admission {
        let key = ObjectIdentifier(channel)
        let network = channel.remoteAddress?.network
        let (admission, evicted) = state.withLock { state in
            let (admission, evicted) = state.counts.admit(key, from: network, limits)
            if admission == .probe { state.probes[key] = channel }
            return (admission, evicted.flatMap { state.probes[$0] })
        }
        if admission != .everything { observe(.refused(channel.remoteAddress)) }
        guard admission != .nothing else { return .nothing }
        channel.closeFuture.whenComplete { _ in
            self.state.withLock { state in
                state.counts.release(key)
                state.probes[key] = nil
            }
        }
        evicted?.close(promise: nil)
        return admission
    }

    /// The connection has proved who it is.
    func markAuthenticated(_ channel: any Channel) {
        state.withLock { $0.counts.forgetStranger(ObjectIdentifier(channel)) }
    }

    /// The call of a connection is answered: from here on it is one of its address's again, as a connection that waits for
    /// its next call belongs to nobody. False when its address has too many, and it has to go.
    func markIdle(_ channel: any Channel) -> Bool {
        let network = channel.remoteAddress?.network
        return state.withLock { $0.counts.idle(ObjectIdentifier(channel), from: network, limits) }
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

extension SocketAddress {
    /// What one household or office is likely to share: the IPv4 address, or the upper half of the IPv6 address.
    /// The two kinds cannot be told apart, which costs nothing: no IPv6 network in use starts with 32 zero bits.
    fileprivate var network: UInt64? {
        withSockAddr { pointer, size in
            // Bytes of `sockaddr_in` and `sockaddr_in6`, which lie alike on every platform.
            let bytes = UnsafeRawBufferPointer(start: pointer, count: size)
            switch self.protocol {
            case .inet where size >= 8:
                return UInt64(UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: 4, as: UInt32.self)))
            case .inet6 where size >= 24:
                let upper = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
                let lower = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 16, as: UInt64.self))
                // ::ffff:a.b.c.d is an IPv4 peer of a socket that listens on both.
                return upper == 0 && lower >> 32 == 0xFFFF ? lower & 0xFFFF_FFFF : upper
            default:
                return nil
            }
        }
    }
}
