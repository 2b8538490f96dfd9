extension KeySource {
    /// - Throws: a phrase that states the fault.
    init(url: String, named: [Network], trustRoots: [UInt8]?) throws(KeyReadingError) {
        let rest: Substring
        if url.hasPrefix("https://") {
            (usesTLS, rest) = (true, url.dropFirst(8))
        } else if url.hasPrefix("http://") {
            (usesTLS, rest) = (false, url.dropFirst(7))
        } else {
            throw KeyReadingError("must begin with https://")
        }
        guard url.utf8.allSatisfy({ (0x21..<0x7f).contains($0) && $0 != UInt8(ascii: "#") && $0 != UInt8(ascii: "\\") })
        else { throw KeyReadingError("must be a URL in ASCII without spaces and without #") }
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        guard !authority.contains("@") else { throw KeyReadingError("must hold no user or password") }
        let target = rest.dropFirst(authority.count)
        path = target.isEmpty ? "/" : target.hasPrefix("?") ? "/" + target : String(target)
        let (name, text) = Self.parts(of: authority)
        guard let name, Self.isHost(name) else { throw KeyReadingError("names no host") }
        host = name
        let usualPort: UInt16 = usesTLS ? 443 : 80
        guard let number = text.map({ UInt16($0) }) ?? usualPort, number > 0 else {
            throw KeyReadingError("has no port from 1 to 65535")
        }
        port = Int(number)
        (self.named, self.trustRoots) = (named, trustRoots)
        try check()
    }

    /// Checks everything that can be checked before the name is resolved.
    private func check() throws(KeyReadingError) {
        let address = host == "localhost" ? Network.bytes("127.0.0.1") : Network.bytes(host)
        let isNamed = address.map { address in named.contains { $0.contains(address) } } ?? false
        if !usesTLS, !(isNamed && address.map(Network.isLoopback) == true) {
            throw KeyReadingError(
                "must begin with https://; http is for a loopback address that \"allow_addresses\" names")
        }
        if let address, !isNamed, !Network.isPublic(address) {
            throw KeyReadingError("leads to a private address; name it in \"allow_addresses\" if that is right")
        }
    }

    private static func parts(of authority: Substring) -> (host: String?, port: Substring?) {
        if authority.hasPrefix("[") {
            guard let end = authority.firstIndex(of: "]") else { return (nil, nil) }
            let host = String(authority[authority.index(after: authority.startIndex)..<end])
            let rest = authority[authority.index(after: end)...]
            guard !rest.isEmpty else { return (host, nil) }
            return rest.hasPrefix(":") ? (host, rest.dropFirst()) : (nil, nil)
        }
        let parts = authority.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        return (parts.first.map(String.init), parts.count == 2 ? parts[1] : nil)
    }

    private static func isHost(_ name: String) -> Bool {
        if name.contains(":") { return Network.bytes(name) != nil }
        return (1...253).contains(name.utf8.count)
            && name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }
}
