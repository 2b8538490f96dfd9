import NIOCore
import NIOHTTP1

/// The proxies that are trusted to state the client's address, and the form in which they do.
package struct TrustedProxies: Hashable, Sendable {
    /// The header field that the proxies write. Only this one is used: a proxy that writes one field forwards the other
    /// as clients sent it.
    package enum Field: String, CaseIterable, Sendable {
        case xForwardedFor = "x-forwarded-for"
        /// RFC 7239.
        case forwarded
    }

    /// The client's address as a request states it.
    enum Word: Equatable {
        case nothing
        case client(SocketAddress)
        /// The field exists, but its end is not an address: it is ignored.
        case unreadable
    }

    /// The addresses of the proxies; at least one range.
    package var ranges: [AddressRange]
    package var field: Field
    /// True when their connections begin with a header of the PROXY protocol, version 2.
    package var sendsHeader: Bool

    /// The greatest number of addresses in one request that are examined.
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

    /// Returns the right-most address that is not a proxy's, because each proxy appends the peer that it sees.
    /// Addresses further left are from an untrusted peer and are not read. If all addresses are proxies', returns the
    /// first.
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
    /// Returns the address of one element of the list.
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

    /// Parses `192.0.2.1`, `192.0.2.1:4711`, `2001:db8::1`, `[2001:db8::1]` or `[2001:db8::1]:4711`; the port is
    /// ignored.
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
