package import NIOCore

/// A block of addresses, such as `10.0.0.0/8` or `fd00::/8`; one address is a block of its own.
package struct AddressRange: Hashable, Sendable {
    /// 16 bytes; an IPv4 address as `::ffff:a.b.c.d`.
    private let prefix: [UInt8]
    private let bits: Int

    /// Parses an address or a block; `nil` for anything else.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let address = SocketAddress(plainIP: first),
            let bytes = address.bytes
        else { return nil }
        prefix = bytes
        let isIPv4 = address.protocol == .inet
        guard parts.count == 2 else {
            bits = 128
            return
        }
        let digits = parts[1]
        guard (1...3).contains(digits.utf8.count), digits.utf8.allSatisfy({ (48...57).contains($0) }),
            let length = Int(digits), length <= (isIPv4 ? 32 : 128)
        else { return nil }
        bits = isIPv4 ? 96 + length : length
    }

    /// True when every address of a family is in the range.
    package var isEverything: Bool { bits == 0 || (bits == 96 && prefix.starts(with: SocketAddress.mapped)) }

    /// Whether an address is in the range. An IPv4 address also matches as `::ffff:a.b.c.d`.
    package func contains(_ address: SocketAddress) -> Bool {
        guard let bytes = address.bytes else { return false }
        for (index, (own, other)) in zip(prefix, bytes).enumerated() {
            let left = bits - index * 8
            guard left > 0 else { return true }
            let mask: UInt8 = left >= 8 ? 0xff : ~(0xff >> UInt8(left))
            guard own & mask == other & mask else { return false }
        }
        return true
    }
}

extension SocketAddress {
    /// Parses an address without a zone, because a zone has a meaning only on the machine that wrote it.
    init?(plainIP text: some StringProtocol) {
        guard !text.contains("%"), let address = try? SocketAddress(ipAddress: String(text), port: 0) else {
            return nil
        }
        self = address
    }

    /// The first 12 bytes of an IPv4 address that is written as an IPv6 address.
    static let mapped: [UInt8] = [UInt8](repeating: 0, count: 10) + [0xff, 0xff]

    /// 16 bytes; an IPv4 address as `::ffff:a.b.c.d`. `nil` for a local socket.
    var bytes: [UInt8]? {
        withSockAddr { pointer, size in
            // Offsets in `sockaddr_in` and `sockaddr_in6`, which are the same on every platform.
            let raw = UnsafeRawBufferPointer(start: pointer, count: size)
            switch self.protocol {
            case .inet where size >= 8: return Self.mapped + raw[4..<8]
            case .inet6 where size >= 24: return Array(raw[8..<24])
            default: return nil
            }
        }
    }

    /// The part of the address that one household or office is likely to share: the IPv4 address, or the upper half of
    /// the IPv6 address. The two kinds cannot collide: no IPv6 network in use starts with 32 zero bits.
    var network: UInt64? {
        guard let bytes else { return nil }
        func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
        // ::ffff:a.b.c.d is an IPv4 peer of a socket that listens on both.
        return bytes.starts(with: Self.mapped) ? number(bytes[12..<16]) : number(bytes[..<8])
    }
}
