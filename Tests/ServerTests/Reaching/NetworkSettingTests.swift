import Testing
import TidemarkEdge

@testable import TidemarkAssembly

/// Settings about the ways by which clients reach the server.
@Suite struct NetworkSettingTests {
    private func configuration(_ environment: [String: String]) throws -> ServerConfiguration {
        try ServerConfiguration(
            environment: ["TIDEMARK_SECRET": TestServer.secret, "TIDEMARK_SCHEMA": TestServer.schemaFile]
                .merging(environment) { $1 })
    }

    @Test func `settings are used, and each is off by default`() throws {
        let usual = try configuration([:])
        #expect(usual.tls == nil && usual.proxies == nil && usual.origins.isEmpty)
        let set = try configuration([
            "TIDEMARK_TLS_CERTIFICATE": "/c", "TIDEMARK_TLS_KEY": "/k", "TIDEMARK_PROXY_FIELD": "Forwarded",
            "TIDEMARK_TRUSTED_PROXIES": "10.0.0.0/8, ::1,192.0.2.1", "TIDEMARK_PROXY_PROTOCOL": "true",
            "TIDEMARK_ORIGINS": "https://a.example, http://localhost:5173",
        ])
        #expect(set.tls == CertificatePaths(certificate: "/c", key: "/k"))
        #expect(set.proxies?.ranges == ["10.0.0.0/8", "::1", "192.0.2.1"].compactMap(AddressRange.init))
        #expect(set.proxies?.field == .forwarded && set.proxies?.sendsHeader == true)
        #expect(set.origins == ["https://a.example", "http://localhost:5173"])
    }

    @Test(arguments: [
        ["TIDEMARK_TLS_CERTIFICATE": "/c"], ["TIDEMARK_TLS_KEY": "/k"], ["TIDEMARK_PROXY_PROTOCOL": "1"],
        ["TIDEMARK_PROXY_FIELD": "forwarded"], ["TIDEMARK_TRUSTED_PROXIES": "10.0.0.0/33"],
        ["TIDEMARK_TRUSTED_PROXIES": "proxy.example"], ["TIDEMARK_TRUSTED_PROXIES": "0.0.0.0/0"],
        ["TIDEMARK_TRUSTED_PROXIES": "::/0"], ["TIDEMARK_TRUSTED_PROXIES": ","],
        ["TIDEMARK_TRUSTED_PROXIES": "::1", "TIDEMARK_PROXY_FIELD": "x-real-ip"],
        ["TIDEMARK_ORIGINS": "*"], ["TIDEMARK_ORIGINS": "app.example"], ["TIDEMARK_ORIGINS": "https://app.example/"],
        ["TIDEMARK_ORIGINS": "https://*.example"], ["TIDEMARK_ORIGINS": "null"],
        ["TIDEMARK_ORIGINS": "https://App.example"],
    ])
    func `an impossible setting is refused`(_ environment: [String: String]) {
        #expect(throws: ConfigurationError.self) { try configuration(environment) }
    }

    @Test(arguments: ["0.0.0.0:8080", "[::]:8080", "192.0.2.1:0", "example.org:80", "127.0.0.1.example.org:80"])
    func `development is for this machine alone unless a second setting allows more`(_ listen: String) throws {
        let environment = ["TIDEMARK_DEV": "1", "TIDEMARK_LISTEN": listen]
        #expect(throws: ConfigurationError.self) { try configuration(environment) }
        #expect(try configuration(environment.merging(["TIDEMARK_DEV_REACHABLE": "1"]) { $1 }).isDevelopment)
        #expect(try configuration(["TIDEMARK_LISTEN": listen]).listen.description == listen)
        for local in ["127.0.0.1:1", "[::1]:1", "localhost:1", "127.3.2.1:1"] {
            #expect(try configuration(["TIDEMARK_DEV": "1", "TIDEMARK_LISTEN": local]).isDevelopment)
        }
    }
}
