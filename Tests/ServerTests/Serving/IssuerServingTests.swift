import Foundation
import Testing
import TidemarkModel
import TidemarkNIOTransport
import TidemarkWire

@testable import TidemarkAssembly

/// A server whose issuer's key endpoint is down.
@Suite(.timeLimit(.minutes(5))) struct IssuerServingTests {
    /// Port 1 of the loopback address, where no program listens.
    private static let issuers = """
        {"issuers": [{"name": "id", "issuer": "https://id.example", "audience": "app", "algorithms": "RS256",
            "keys": {"url": "http://127.0.0.1:1/keys", "allow_addresses": "127.0.0.1"}}]}
        """

    private static func base64(_ text: String) -> String {
        Data(text.utf8).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing(
            "=", with: "")
    }

    /// A token of the issuer, signed with an unknown key.
    private static func token(algorithm: String = "RS256") -> String {
        let now = ServerAssembly.Surroundings().now() / 1_000
        let claims = #"{"iss":"https://id.example","aud":"app","sub":"ann","iat":\#(now),"exp":\#(now + 600)}"#
        return
            "\(base64(#"{"alg":"\#(algorithm)","kid":"a"}"#)).\(base64(claims)).\(base64(String(repeating: "s", count: 256)))"
    }

    private func running(
        _ log: LogCapture? = nil, _ body: @Sendable (TestServer) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "issuers.json")
        try Data(Self.issuers.utf8).write(to: file)
        try await TestServer.running(environment: ["TIDEMARK_ISSUERS": file.path], log: log, body)
    }

    @Test func `while there are no keys calls are answered 503 and connections 4503, never as if the token were bad`()
        async throws
    {
        try await running { server async throws in
            for _ in 0..<3 {
                let answer = try await server.call(
                    "POST", "/v1/pull", body: #"{"scopes":[]}"#, headers: [("Authorization", "Bearer \(Self.token())")])
                #expect(answer.status == 503)
                let text = String(decoding: answer.body, as: UTF8.self)
                #expect(text.contains(#""unavailable""#) && text.contains("retry_ms"), "\(text)")
                let client = try await TestClient.open(server, 1)
                try await client.send(
                    .hello(Hello(token: Self.token(), client: client.id, isNewClient: true, connection: 1)))
                #expect(try await client.closeCode() == 4503)
            }
            // The server's own tokens need no endpoint.
            let own = try await server.call("POST", "/v1/pull", as: "ann", body: #"{"scopes":[]}"#)
            #expect(own.status == 200)
        }
    }

    @Test func `a refused token is logged with its label, and without its content`() async throws {
        let log = LogCapture()
        try await running(log) { server async throws in
            let token = Self.token(algorithm: "none")
            let answer = try await server.call(
                "POST", "/v1/pull", body: #"{"scopes":[]}"#, headers: [("Authorization", "Bearer \(token)")])
            #expect(answer.status == 401)
        }
        let line = try #require(log.lines.first { $0.contains("Refused a token") })
        #expect(line.contains("label=algorithm_not_allowed") && line.contains("issuer=id"), "\(line)")
        #expect(!log.lines.contains { $0.contains(Self.token().suffix(40)) })
    }
}
