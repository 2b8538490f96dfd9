/// Where a server listens.
package struct ListenAddress: Hashable, Sendable, CustomStringConvertible {
    /// A name or an address; IPv6 without brackets.
    package var host: String
    /// 0 lets the system choose.
    package var port: Int

    package init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    /// Reads `HOST:PORT`, with an IPv6 address in brackets.
    ///
    /// - Parameter setting: whose value it is, for the error.
    package init(_ text: String, of setting: Setting = .listen) throws(ConfigurationError) {
        guard let colon = text.lastIndex(of: ":") else {
            throw ConfigurationError(setting, "\"\(text)\" has no port: write HOST:PORT, such as 127.0.0.1:8080")
        }
        guard let port = Int(text[text.index(after: colon)...]), (0...65_535).contains(port) else {
            throw ConfigurationError(setting, "the port of \"\(text)\" is not a number from 0 to 65535")
        }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
        } else if host.contains(":") {
            throw ConfigurationError(setting, "put the IPv6 address of \"\(text)\" in brackets: [::1]:8080")
        }
        guard !host.isEmpty else {
            throw ConfigurationError(setting, "\"\(text)\" has no host: write 0.0.0.0:PORT for every address")
        }
        self.init(host: String(host), port: port)
    }

    package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
