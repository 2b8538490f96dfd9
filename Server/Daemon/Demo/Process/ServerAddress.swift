/// Where a server listens: what `http://host:port` says.
struct ServerAddress: Hashable, Sendable, CustomStringConvertible {
    let host: String
    let port: Int

    var authority: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
    var description: String { "http://\(authority)" }

    init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    /// Finds the first `http://host:port` in a text; `nil` when there is none.
    init?(in text: some StringProtocol) {
        guard let scheme = text.firstRange(of: "http://") else { return nil }
        let rest = text[scheme.upperBound...].prefix { !$0.isWhitespace && $0 != "/" && $0 != "\"" && $0 != "," }
        guard let colon = rest.lastIndex(of: ":") else { return nil }
        let digits = rest[rest.index(after: colon)...].prefix { $0.isASCII && $0.isNumber }
        guard let port = Int(digits), (1...65_535).contains(port) else { return nil }
        let host = rest[..<colon].trimmingPrefix("[")
        self.init(host: String(host.hasSuffix("]") ? host.dropLast() : host), port: port)
    }
}
