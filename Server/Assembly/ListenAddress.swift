import Foundation

/// The address that a server listens on.
package struct ListenAddress: Hashable, Sendable, CustomStringConvertible {
    /// A name or an address; IPv6 without brackets.
    package var host: String
    /// 0 lets the system choose.
    package var port: Int

    package init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    /// Reads `HOST:PORT`, with an IPv6 address in brackets; the host `*` is every address of this machine.
    ///
    /// - Parameter setting: the setting that holds the text, for the error.
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
            throw ConfigurationError(setting, "\"\(text)\" has no host: write *:PORT for every address")
        }
        self.init(host: host == "*" ? Self.everyHost : String(host), port: port)
    }

    /// The wildcard address: IPv6, or IPv4 if the system has no IPv6. Its socket accepts IPv4 as well, whatever the
    /// system's `bindv6only` is: NIO clears `IPV6_V6ONLY` of each socket that it makes.
    private static var everyHost: String {
        let descriptor = socket(AF_INET6, systemNumber(of: SOCK_STREAM), 0)
        guard descriptor >= 0 else { return "0.0.0.0" }
        close(descriptor)
        return "::"
    }

    package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
