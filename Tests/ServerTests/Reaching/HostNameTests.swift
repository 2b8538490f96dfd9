import Testing
import TidemarkNIOTransport

@testable import TidemarkAssembly

/// The names by which a server is reached, on each of its listeners (R-150).
@Suite(.timeLimit(.minutes(5))) struct HostNameTests {
    private static let named = TestServer.operated.merging(["TIDEMARK_HOST_NAMES": "sync.example, tidemark"]) { $1 }

    /// The answer to one request, which consists of the first line and the fields.
    private static func answer(_ line: String, _ fields: [String], at port: Int) async throws -> String {
        let text = ([line + " HTTP/1.1"] + fields + ["Connection: close"]).joined(separator: "\r\n") + "\r\n\r\n"
        let answers = Answers()
        try await RawCall.connected(to: port) { call in
            try await call.send(text)
            call.finish()
            await answers.add(try await call.readToEnd())
        }
        return await answers.first
    }

    private actor Answers {
        var first = ""
        func add(_ text: String) { first = text }
    }

    @Test(arguments: ["GET /healthz", "GET /readyz", "GET /v1/info", "POST /v1/push", "GET /v1/sync", "GET /none"])
    func `a name that is not the server's is answered 421 with the setting to change, at every address`(
        _ line: String
    ) async throws {
        try await TestServer.running(environment: Self.named) { server in
            let token = "Authorization: Bearer \(try server.token("ann"))"
            for host in ["evil.example", "evil.example:\(server.port)", "sync.example.evil.example"] {
                let answer = try await Self.answer(line, ["Host: \(host)", token], at: server.port)
                #expect(answer.hasPrefix("HTTP/1.1 421 "), "\(answer)")
                #expect(answer.contains("--host-names") && answer.contains("TIDEMARK_HOST_NAMES"), "\(answer)")
            }
        }
    }

    @Test func `the operators' listener uses the same names, for figures and console as well`() async throws {
        try await TestServer.administered { server in
            let port = try #require(server.adminPort)
            let token = "Authorization: Bearer \(TestServer.adminToken)"
            for path in ["/metrics", "/livez", "/readyz", "/", "/admin/v1/workspaces", "/none"] {
                let answer = try await Self.answer("GET \(path)", ["Host: evil.example", token], at: port)
                #expect(answer.hasPrefix("HTTP/1.1 421 ") && answer.contains("--host-names"), "\(path): \(answer)")
                let page = try await Self.answer(
                    "GET \(path)", ["Host: localhost:\(port)", "Origin: https://evil.example", token], at: port)
                #expect(page.hasPrefix("HTTP/1.1 403 "), "\(path): \(page)")
                let own = try await Self.answer(
                    "GET \(path)", ["Host: localhost:\(port)", "Origin: http://localhost:\(port)", token], at: port)
                #expect(own.hasPrefix("HTTP/1.1 \(path == "/none" ? 404 : 200) "), "\(path): \(own)")
            }
            let figures = try await Figures(of: server)
            #expect(figures[#"tidemark_refusals_total{code="misdirected"}"#] == 6)
        }
    }

    @Test func `configured names, addresses and localhost are accepted, and so are requests without a name`()
        async throws
    {
        try await TestServer.running(environment: Self.named) { server in
            for host in ["sync.example", "tidemark:1", "localhost", "127.0.0.1:\(server.port)", "[::1]"] {
                let answer = try await Self.answer("GET /healthz", ["Host: \(host)"], at: server.port)
                #expect(answer.hasPrefix("HTTP/1.1 200 "), "\(host): \(answer)")
            }
            #expect(try await Self.answer("GET /healthz", [], at: server.port).hasPrefix("HTTP/1.1 200 "))
        }
    }

    @Test func `a refused name is counted and logged`() async throws {
        let log = LogCapture()
        try await TestServer.running(environment: Self.named, log: log) { server in
            _ = try await Self.answer("GET /healthz", ["Host: evil.example"], at: server.port)
            let figures = try await Figures(of: server)
            #expect(figures[#"tidemark_refusals_total{code="misdirected"}"#] == 1)
        }
        #expect(log.lines.contains { $0.contains("Refused a request") && $0.contains("label=host_unknown") })
    }

    @Test func `names come from the setting and from the addresses of the listeners`() throws {
        func names(_ environment: [String: String]) throws -> Set<String> {
            try ServerConfiguration(
                environment: ["TIDEMARK_SECRET": TestServer.secret, "TIDEMARK_SCHEMA": TestServer.schemaFile]
                    .merging(environment) { $1 }
            ).hostNames
        }
        #expect(try names(["TIDEMARK_HOST_NAMES": "Sync.Example"]) == ["sync.example", "127.0.0.1"])
        #expect(try names(["TIDEMARK_LISTEN": "db1:80"]) == ["db1"])
        for wrong in ["https://sync.example", "sync.example:443", "*", "*.example", "a b", "a/b"] {
            #expect(throws: ConfigurationError.self, "\(wrong)") { try names(["TIDEMARK_HOST_NAMES": wrong]) }
        }
    }

    @Test func `probes by HEAD are answered too, without a body`() async throws {
        try await TestServer.running(environment: TestServer.operated) { server in
            for path in ["/healthz", "/readyz", "/v1/info"] {
                let answer = try await server.call("HEAD", path)
                #expect(answer.status == 200 && answer.body.isEmpty, "\(path)")
            }
            for path in ["/livez", "/readyz", "/metrics"] {
                let answer = try await Self.answer(
                    "HEAD \(path)", ["Host: localhost"], at: try #require(server.adminPort))
                #expect(answer.hasPrefix("HTTP/1.1 200 ") && answer.hasSuffix("\r\n\r\n"), "\(path)")
            }
        }
    }
}
