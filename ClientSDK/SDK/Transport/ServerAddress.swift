/// A parsed server address: `http://host`, `https://host:port/prefix`, also with `ws` and `wss`.
package struct ServerAddress: Hashable, Sendable {
    /// The text is not an address that can be connected to.
    package struct Malformed: Error, Hashable, Sendable, CustomStringConvertible {
        /// A sentence with the text and the expected form.
        package let description: String
    }

    package let usesTLS: Bool
    package let host: String
    package let port: Int
    /// The path without a slash at the end; empty for none.
    package let path: String

    /// - Throws: `Malformed`.
    package init(_ text: String) throws(Malformed) {
        let malformed = Malformed(
            description: "\"\(text)\" is not a server address such as https://sync.example.com:8080")
        guard let separator = text.firstRange(of: "://") else { throw malformed }
        switch text[..<separator.lowerBound].lowercased() {
        case "http", "ws": usesTLS = false
        case "https", "wss": usesTLS = true
        default: throw malformed
        }
        var rest = text[separator.upperBound...]
        guard !rest.contains(where: { $0 == "?" || $0 == "#" || $0 == "@" || $0.isWhitespace }) else { throw malformed }
        let slash = rest.firstIndex(of: "/") ?? rest.endIndex
        var path = rest[slash...]
        while path.hasSuffix("/") { path.removeLast() }
        self.path = String(path)
        rest = rest[..<slash]
        var port = usesTLS ? 443 : 80
        // A colon inside brackets belongs to an IPv6 address.
        if let colon = rest.lastIndex(of: ":"), !rest[colon...].contains("]") {
            guard let number = Int(rest[rest.index(after: colon)...]), (1...65_535).contains(number) else {
                throw malformed
            }
            port = number
            rest = rest[..<colon]
        }
        if rest.hasPrefix("["), rest.hasSuffix("]") { rest = rest.dropFirst().dropLast() }
        guard !rest.isEmpty else { throw malformed }
        host = String(rest)
        self.port = port
    }
}
