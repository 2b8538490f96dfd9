import NIOCore
import NIOHTTP1

/// The proxies whose word counts for who is at the other end, and how they say it.
package struct TrustedProxies: Hashable, Sendable {
    /// The header field that the proxies write. One alone counts: a proxy that writes one passes on what clients write into the
    /// other.
    package enum Field: String, CaseIterable, Sendable {
        case xForwardedFor = "x-forwarded-for"
        /// RFC 7239.
        case forwarded
    }

    /// What a request says of whom it is for.
    enum Word: Equatable {
        case nothing
        case client(SocketAddress)
        /// There is a field, and its end is no address: it counts for nothing.
        case unreadable
    }

    /// Where the proxies are; there is at least one range.
    package var ranges: [AddressRange]
    package var field: Field
    /// Their connections begin with a header of the PROXY protocol, version 2.
    package var sendsHeader: Bool

    /// Addresses of one request that are looked at.
    private static let hopsMax = 32

    package init(_ ranges: [AddressRange], field: Field = .xForwardedFor, sendsHeader: Bool = false) {
        self.ranges = ranges
        self.field = field
        self.sendsHeader = sendsHeader
    }

    func contains(_ address: SocketAddress?) -> Bool {
        guard let address else { return false }
        return ranges.contains { $0.contains(address) }
    }

    /// The right-most address that is no proxy's: each proxy writes whom it heard, at the end. What stands further left is the word of
    /// somebody who is not trusted, and is not even read. Where all are proxies it is the first of them.
    func client(in headers: HTTPHeaders) -> Word {
        var found: SocketAddress?
        var hops = 0
        for line in headers[field.rawValue].reversed() {
            for element in line.split(separator: ",", omittingEmptySubsequences: false).reversed() {
                hops += 1
                guard hops <= Self.hopsMax, let address = field.address(in: element) else { return .unreadable }
                guard contains(address) else { return .client(address) }
                found = address
            }
        }
        return found.map { .client($0) } ?? .nothing
    }
}

extension TrustedProxies.Field {
    /// The address of one element of the list.
    fileprivate func address(in element: Substring) -> SocketAddress? {
        switch self {
        case .xForwardedFor: return Self.node(element.trimmed)
        case .forwarded:
            for pair in element.split(separator: ";") {
                let parts = pair.split(separator: "=", maxSplits: 1)
                guard parts.count == 2, parts[0].trimmed.lowercased() == "for" else { continue }
                var value = parts[1].trimmed
                if value.hasPrefix("\""), value.hasSuffix("\""), value.utf8.count >= 2 {
                    value = value.dropFirst().dropLast()
                }
                return Self.node(value)
            }
            return nil
        }
    }

    /// `192.0.2.1`, `192.0.2.1:4711`, `2001:db8::1`, `[2001:db8::1]` or `[2001:db8::1]:4711`; a port counts for nothing.
    private static func node(_ text: Substring) -> SocketAddress? {
        var host = text
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]"), isPort(text[text.index(after: end)...]) else { return nil }
            host = text[text.index(after: text.startIndex)..<end]
            guard host.contains(":") else { return nil }
        } else if let colon = text.firstIndex(of: ":"), text.lastIndex(of: ":") == colon {
            guard isPort(text[colon...]) else { return nil }
            host = text[..<colon]
        }
        return SocketAddress(plainIP: host)
    }

    private static func isPort(_ text: Substring) -> Bool {
        guard !text.isEmpty else { return true }
        return text.hasPrefix(":") && (2...6).contains(text.utf8.count)
            && text.utf8.dropFirst().allSatisfy { (48...57).contains($0) }
    }
}

extension Substring {
    fileprivate var trimmed: Substring {
        var rest = self
        while let first = rest.first, first == " " || first == "\t" { rest = rest.dropFirst() }
        while let last = rest.last, last == " " || last == "\t" { rest = rest.dropLast() }
        return rest
    }
}
