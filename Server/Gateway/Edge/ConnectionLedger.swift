import NIOCore
import Synchronization

/// Counts open connections and says whether one more may come. Any thread.
final class ConnectionLedger: Sendable {
    private struct Counts {
        var open = 0
        var refused = 0
        /// Connections that have not proved who they are, and the network that each came from.
        var strangers: [ObjectIdentifier: UInt64] = [:]
        var strangersByNetwork: [UInt64: Int] = [:]

        mutating func forgetStranger(_ key: ObjectIdentifier) {
            guard let network = strangers.removeValue(forKey: key), let count = strangersByNetwork[network] else {
                return
            }
            strangersByNetwork[network] = count > 1 ? count - 1 : nil
        }
    }

    private let connectionsMax: Int
    private let perNetworkMax: Int?
    private let counts = Mutex(Counts())

    init(_ limits: EdgeLimits) {
        connectionsMax = limits.connectionsMax
        perNetworkMax = limits.unauthenticatedPerAddressMax
    }

    /// Admits a connection until it closes, or refuses it.
    func admit(_ channel: any Channel) -> Bool {
        let key = ObjectIdentifier(channel)
        let network = channel.remoteAddress?.network
        let isAdmitted = counts.withLock { counts in
            guard counts.open < connectionsMax, hasRoom(for: network, counts) else {
                counts.refused += 1
                return false
            }
            counts.open += 1
            if let network {
                counts.strangers[key] = network
                counts.strangersByNetwork[network, default: 0] += 1
            }
            return true
        }
        if isAdmitted { channel.closeFuture.whenComplete { _ in self.release(key) } }
        return isAdmitted
    }

    func markAuthenticated(_ channel: any Channel) {
        counts.withLock { $0.forgetStranger(ObjectIdentifier(channel)) }
    }

    func snapshot() -> EdgeCounts {
        counts.withLock {
            EdgeCounts(open: $0.open, unauthenticated: $0.strangers.count, refused: $0.refused)
        }
    }

    private func hasRoom(for network: UInt64?, _ counts: borrowing Counts) -> Bool {
        guard let perNetworkMax, let network else { return true }
        return (counts.strangersByNetwork[network] ?? 0) < perNetworkMax
    }

    private func release(_ key: ObjectIdentifier) {
        counts.withLock { counts in
            counts.open -= 1
            counts.forgetStranger(key)
        }
    }
}

/// How many connections the edge has, for metrics.
package struct EdgeCounts: Sendable, Equatable {
    /// Connections open now, HTTP and WebSocket.
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
