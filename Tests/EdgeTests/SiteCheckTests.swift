import Testing

@testable import TidemarkEdge

/// The names under which a request may arrive, and the pages from which.
@Suite(.timeLimit(.minutes(5))) struct SiteCheckTests {
    private static let sites = SiteCheck(names: ["sync.example", "Tidemark."], origins: ["https://app.example"])

    @Test(arguments: [
        "sync.example", "SYNC.example:8443", "sync.example.", "tidemark", "localhost", "localhost:8080", "LOCALHOST.",
        "127.0.0.1", "127.0.0.1:8080", "192.0.2.7", "[::1]", "[::1]:8080", "[2001:db8::7]:1", "localhost:",
    ])
    func `an address, localhost and a configured name are this server`(_ host: String) {
        #expect(Self.sites.fault(hosts: [host], origins: []) == nil)
    }

    @Test(arguments: [
        "evil.example", "evil.example:8080", "sync.example.evil.example", "evil-sync.example", "localhost.evil.example",
        "127.0.0.1.evil.example", "127.1", "0x7f.0.0.1", "127.0.0.1 ", "syncaexample",
    ])
    func `any other name is another server's`(_ host: String) {
        #expect(Self.sites.fault(hosts: [host], origins: []) == .unknownName)
    }

    @Test(arguments: [
        "", ":8080", "[::1", "[127.0.0.1]", "[::1]8080", "localhost:80:80", "localhost:x", "localhost:-1",
        "localhost:65536", "[fe80::1%25lo]", "[localhost]", "::1",
    ])
    func `an invalid host is refused as such`(_ host: String) {
        #expect(Self.sites.fault(hosts: [host], origins: []) == .malformed)
    }

    @Test func `two hosts are invalid, and a request without one is not a browser's`() {
        #expect(Self.sites.fault(hosts: ["localhost", "localhost"], origins: []) == .malformed)
        #expect(Self.sites.fault(hosts: [], origins: []) == nil)
        #expect(Self.sites.fault(hosts: [], origins: ["https://evil.example"]) == .foreignOrigin)
    }

    @Test(arguments: [
        ("localhost:8080", "http://localhost:8080"), ("sync.example", "https://sync.example"),
        ("sync.example", "http://sync.example"), ("sync.example:443", "https://sync.example"),
        ("sync.example", "https://sync.example:443"), ("127.0.0.1:81", "http://127.0.0.1:81"),
        ("[::1]:81", "http://[::1]:81"), ("localhost", "https://app.example"),
    ])
    func `a page of the server's own origin may call, and so may a listed one`(_ host: String, _ origin: String) {
        #expect(Self.sites.fault(hosts: [host], origins: [origin]) == nil)
    }

    @Test(arguments: [
        ("localhost:8080", "http://localhost:8081"), ("localhost:8080", "http://localhost"),
        ("sync.example", "https://sync.example:8443"), ("sync.example", "http://sync.example:443"),
        ("localhost", "null"), ("localhost", ""), ("localhost", "https://evil.example"), ("localhost", "localhost"),
        ("localhost", "file://localhost"), ("localhost", "https://localhost.evil.example"),
        ("localhost", "https://app.example.evil.example"), ("localhost", "HTTPS://APP.EXAMPLE"),
    ])
    func `a page of any other origin may not`(_ host: String, _ origin: String) {
        #expect(Self.sites.fault(hosts: [host], origins: [origin]) == .foreignOrigin)
    }

    @Test func `two origins are refused, even if each of them is allowed`() {
        let both = ["https://app.example", "https://app.example"]
        #expect(Self.sites.fault(hosts: ["localhost"], origins: both) == .foreignOrigin)
    }

    @Test(arguments: [
        ("GET /json", ["Host: evil.example"], "421", "--host-names"),
        ("GET /healthz", ["Host: evil.example"], "421", ""),
        ("GET /json", ["Host: sync.example"], "200", "{}"), ("GET /json", ["Host: [::1"], "400", "Host"),
        ("GET /json", ["Host: sync.example", "Origin: https://evil.example"], "403", "--origins"),
        ("GET /json", ["Host: sync.example", "Origin: https://sync.example"], "200", "{}"),
        ("GET /v1/sync", ["Host: evil.example"], "421", "--host-names"),
        (
            "GET /v1/sync",
            ["Host: evil.example", "Origin: http://evil.example"] + RawPeer.handshakeFields.dropFirst(),
            "421", ""
        ),
        (
            "GET /v1/sync",
            ["Host: sync.example", "Origin: http://sync.example"] + RawPeer.handshakeFields.dropFirst(),
            "101", "Sec-WebSocket-Accept"
        ),
        ("GET /json", [], "200", "{}"),
    ])
    func `calls and sockets are refused before anything else is checked`(
        _ line: String, _ fields: [String], _ status: String, _ says: String
    ) async throws {
        try await EdgeServer.running(sites: Self.sites) { server in
            try await RawPeer.connected(to: server.port) { peer in
                try await peer.send(RawPeer.request(line, fields))
                let head = try await peer.readHead()
                #expect(head.hasPrefix("HTTP/1.1 \(status) "), "\(head)")
                peer.finish()
                guard status != "101" else { return #expect(head.contains(says)) }
                let body = String(decoding: try await peer.readToEnd(), as: UTF8.self)
                #expect(body.contains(says), "\(body)")
            }
        }
    }
}
