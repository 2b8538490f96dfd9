import NIOCore
import NIOHTTP1

/// Judges the host name of a request, and the origin of the page that makes it.
///
/// A browser lets a page of any site call every server that its user's machine reaches. If the page has a host name
/// whose address the site's owner moves here (DNS rebinding), it could read the answers as well. So a request must name
/// an address, `localhost` or a name that the operator has configured. A page must be of the server's own
/// origin or of a configured one.
package struct SiteCheck: Hashable, Sendable {
    /// The server's names, in lower case and without a final dot.
    private let names: Set<String>
    /// Web origins whose pages may call, as browsers write them.
    private let origins: Set<String>

    /// The reason why a request is refused.
    package enum Fault: String, Sendable, CaseIterable {
        /// `Host` appears twice, or is not a host.
        case malformed = "host_malformed"
        /// `Host` is not one of the server's names.
        case unknownName = "host_unknown"
        /// The page's origin is neither the server's own nor configured.
        case foreignOrigin = "origin_foreign"
    }

    /// - Parameters:
    ///   - names: names of the server besides `localhost` and every address.
    ///   - origins: exact values of `Origin` whose pages may call.
    package init(names: Set<String> = [], origins: Set<String> = []) {
        self.names = Set(names.map { Host.plain($0.lowercased()) } + ["localhost"])
        self.origins = origins
    }

    /// Returns the reason to refuse a request, or `nil`.
    ///
    /// - Parameters:
    ///   - hosts: the values of `Host`. An empty list is admitted: every browser sends one, and probes of HTTP/1.0 do
    ///     not.
    ///   - origins: the values of `Origin`. An empty list is admitted: apps send none.
    package func fault(hosts: [String], origins: [String]) -> Fault? {
        guard hosts.count <= 1 else { return .malformed }
        var host: Host?
        if let text = hosts.first {
            guard let read = Host(text) else { return .malformed }
            guard read.isAddress || names.contains(read.name) else { return .unknownName }
            host = read
        }
        guard let origin = origins.first else { return nil }
        guard origins.count == 1, self.origins.contains(origin) || host?.isOrigin(origin) == true else {
            return .foreignOrigin
        }
        return nil
    }
}

/// The value of `Host`.
private struct Host {
    /// The host in lower case, without a final dot; an IPv6 address without brackets.
    let name: String
    let isAddress: Bool
    /// The port; `nil` for the scheme's default.
    let port: Int?

    /// Parses a host with or without a port; `nil` for anything else.
    init?(_ text: String) {
        var name = Substring(text)
        var digits: Substring?
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { return nil }
            let rest = text[text.index(after: end)...]
            guard rest.isEmpty || rest.hasPrefix(":") else { return nil }
            if !rest.isEmpty { digits = rest.dropFirst() }
            name = text[..<end].dropFirst()
            guard SocketAddress(plainIP: name)?.protocol == .inet6 else { return nil }
            isAddress = true
        } else {
            if let colon = text.firstIndex(of: ":") {
                name = text[..<colon]
                digits = text[text.index(after: colon)...]
            }
            isAddress = SocketAddress(plainIP: name) != nil
        }
        if let digits, !digits.isEmpty {
            guard digits.utf8.allSatisfy({ (48...57).contains($0) }), let number = UInt16(digits) else { return nil }
            port = Int(number)
        } else {
            port = nil
        }
        guard !name.isEmpty else { return nil }
        self.name = Self.plain(name.lowercased())
    }

    /// Returns a name without the dot that ends an absolute one.
    static func plain(_ name: String) -> String { name.hasSuffix(".") ? String(name.dropLast()) : name }

    /// Whether a page of this origin is from this host. A proxy may speak TLS before the server, so the scheme decides
    /// only the default port.
    func isOrigin(_ origin: String) -> Bool {
        for (scheme, usual) in [("http://", 80), ("https://", 443)] where origin.hasPrefix(scheme) {
            guard let other = Host(String(origin.dropFirst(scheme.count))) else { return false }
            return other.name == name && (other.port ?? usual) == (port ?? usual)
        }
        return false
    }
}

extension SiteCheck.Fault {
    /// The answer's status.
    package var status: Int {
        switch self {
        case .malformed: 400
        case .unknownName: 421
        case .foreignOrigin: 403
        }
    }

    /// The code of the answer, for programs.
    package var code: String {
        switch self {
        case .malformed: "invalid"
        case .unknownName: "misdirected"
        case .foreignOrigin: "forbidden"
        }
    }

    /// The answer's message, for people.
    package var message: String {
        switch self {
        case .malformed: "Host must be one host, with or without a port"
        case .unknownName:
            "unknown host name: add it with --host-names (TIDEMARK_HOST_NAMES), or call this server by its address"
        case .foreignOrigin:
            "pages of this origin may not call this server: allow it with --origins (TIDEMARK_ORIGINS)"
        }
    }

    /// The edge's own answer.
    var refusal: HTTPRefusal { HTTPRefusal(HTTPResponseStatus(statusCode: status), code, message) }
}
