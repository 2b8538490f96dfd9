import Foundation

/// A block of addresses, such as `10.0.0.0/8`; one address is a block of its own.
package struct Network: Hashable, Sendable {
    /// 4 or 16 bytes.
    private let prefix: [UInt8]
    private let bits: Int

    /// Parses an address or a block; `nil` for anything else.
    init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = Self.bytes(String(parts[0])) else { return nil }
        prefix = address
        guard parts.count == 2 else {
            bits = address.count * 8
            return
        }
        guard let bits = Int(parts[1]), (0...address.count * 8).contains(bits) else { return nil }
        self.bits = bits
    }

    func contains(_ address: [UInt8]) -> Bool {
        guard address.count == prefix.count else { return false }
        for index in prefix.indices {
            let left = bits - index * 8
            guard left > 0 else { return true }
            let mask: UInt8 = left >= 8 ? 0xff : ~(0xff >> UInt8(left))
            guard prefix[index] & mask == address[index] & mask else { return false }
        }
        return true
    }

    /// Whether an address is in the public network. Private addresses lead to machines that trust their neighbours:
    /// routers, databases, the metadata of a cloud.
    static func isPublic(_ address: [UInt8]) -> Bool {
        guard let plain = embedded(in: address) else {
            return !privateBlocks.contains { $0.contains(address) }
        }
        return !privateBlocks.contains { $0.contains(plain) }
    }

    static func isLoopback(_ address: [UInt8]) -> Bool {
        let plain = embedded(in: address) ?? address
        return loopback.contains { $0.contains(plain) }
    }

    private static let loopback = ["127.0.0.0/8", "::1"].compactMap(Network.init)

    private static let privateBlocks = [
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
        "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
        "224.0.0.0/4", "240.0.0.0/4",
        "::/96", "100::/64", "2001::/23", "2001:db8::/32", "3fff::/20", "5f00::/16", "fc00::/7", "fe80::/10",
        "fec0::/10",
        "ff00::/8",
    ].compactMap(Network.init)

    /// Returns the IPv4 address that an IPv6 address leads to: mapped, translated (NAT64) or tunnelled (6to4).
    static func embedded(in address: [UInt8]) -> [UInt8]? {
        guard address.count == 16 else { return nil }
        if mapped.contains(address) || translated.contains(where: { $0.contains(address) }) {
            return Array(address[12...])
        }
        return tunnelled.contains(address) ? Array(address[2..<6]) : nil
    }

    private static let mapped = Network(prefix: [UInt8](repeating: 0, count: 10) + [0xff, 0xff, 0, 0, 0, 0], bits: 96)
    private static let translated = ["64:ff9b::/96", "64:ff9b:1::/48"].compactMap(Network.init)
    private static let tunnelled = Network(prefix: [0x20, 0x02] + [UInt8](repeating: 0, count: 14), bits: 16)

    private init(prefix: [UInt8], bits: Int) {
        self.prefix = prefix
        self.bits = bits
    }

    /// Returns the bytes of an address in its usual text form.
    static func bytes(_ text: String) -> [UInt8]? {
        text.contains(":") ? version6(text) : version4(text)
    }

    private static func version4(_ text: String) -> [UInt8]? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        // Like inet_pton: no octal, no other number of parts.
        let bytes = parts.compactMap { part in
            part.count > 1 && part.hasPrefix("0") || !part.utf8.allSatisfy { $0 &- 48 < 10 } ? nil : UInt8(part)
        }
        return parts.count == 4 && bytes.count == 4 ? bytes : nil
    }

    private static func version6(_ text: String) -> [UInt8]? {
        var text = text
        if text.contains("."), let colon = text.lastIndex(of: ":") {
            guard let tail = version4(String(text[text.index(after: colon)...])) else { return nil }
            let words = [Int(tail[0]) << 8 | Int(tail[1]), Int(tail[2]) << 8 | Int(tail[3])]
            text = text[...colon] + words.map { String($0, radix: 16) }.joined(separator: ":")
        }
        let halves = text.components(separatedBy: "::")
        guard halves.count <= 2 else { return nil }
        let groups = halves.map { half -> [UInt8]? in
            var bytes: [UInt8] = []
            guard !half.isEmpty else { return bytes }
            for part in half.split(separator: ":", omittingEmptySubsequences: false) {
                guard (1...4).contains(part.utf8.count), let word = UInt16(part, radix: 16) else { return nil }
                bytes += [UInt8(word >> 8), UInt8(word & 0xff)]
            }
            return bytes
        }
        guard let head = groups[0] else { return nil }
        guard halves.count == 2 else { return head.count == 16 ? head : nil }
        guard let tail = groups[1], head.count + tail.count <= 14 else { return nil }
        return head + [UInt8](repeating: 0, count: 16 - head.count - tail.count) + tail
    }
}
