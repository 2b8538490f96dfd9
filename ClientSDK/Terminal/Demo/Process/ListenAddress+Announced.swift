import TidemarkAssembly

extension ListenAddress {
    /// Finds the first `http://host:port` in a line of a server's output, or in an option; `nil` when there is none.
    init?(announcedIn text: some StringProtocol) {
        guard let scheme = text.firstRange(of: "http://") else { return nil }
        let rest = text[scheme.upperBound...].prefix { !$0.isWhitespace && $0 != "/" && $0 != "\"" && $0 != "," }
        do {
            try self.init(String(rest))
        } catch {
            return nil
        }
    }

    /// The address as a URL for clients.
    var url: String { "http://\(self)" }
}
