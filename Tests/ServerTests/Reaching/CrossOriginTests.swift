import Testing
import TidemarkNIOTransport

@testable import TidemarkAssembly

/// The web pages that may call and connect.
@Suite(.timeLimit(.minutes(5))) struct CrossOriginTests {
    private static let allowed = ["TIDEMARK_ORIGINS": "https://app.example,http://localhost:5173"]

    private static func field(_ name: String, of answer: NIOHTTPAnswer) -> [String] {
        answer.headers.filter { $0.0.lowercased() == name }.map(\.1)
    }

    @Test func `a page of a listed origin may call, with a token, and read refusals too`() async throws {
        try await TestServer.running(environment: Self.allowed) { server in
            let asked = try await server.call(
                "OPTIONS", "/v1/push",
                headers: [
                    ("Origin", "https://app.example"), ("Access-Control-Request-Method", "POST"),
                    ("Access-Control-Request-Headers", "authorization,content-type"),
                ])
            #expect(asked.status == 204)
            #expect(Self.field("access-control-allow-origin", of: asked) == ["https://app.example"])
            #expect(Self.field("access-control-allow-headers", of: asked).first?.contains("Authorization") == true)
            #expect(Self.field("access-control-allow-methods", of: asked).first?.contains("PUT") == true)
            for (user, status) in [("ann" as String?, UInt(200)), (nil, 401)] {
                let answer = try await server.call(
                    "GET", "/v1/clients", as: user, headers: [("Origin", "http://localhost:5173")])
                #expect(answer.status == Int(status))
                #expect(Self.field("access-control-allow-origin", of: answer) == ["http://localhost:5173"])
                #expect(Self.field("vary", of: answer) == ["Origin"])
                #expect(Self.field("access-control-allow-credentials", of: answer) == [])
            }
        }
    }

    @Test func `a page of another origin is shown nothing, and apps need no origin`() async throws {
        try await TestServer.running(environment: Self.allowed) { server in
            for origin in ["https://evil.example", "null", "https://app.example.evil.example", "HTTPS://APP.EXAMPLE"] {
                let asked = try await server.call(
                    "OPTIONS", "/v1/push", headers: [("Origin", origin), ("Access-Control-Request-Method", "POST")])
                #expect(asked.status == 403 && Self.field("access-control-allow-origin", of: asked) == [], "\(origin)")
                let answer = try await server.call("GET", "/v1/clients", as: "ann", headers: [("Origin", origin)])
                #expect(Self.field("access-control-allow-origin", of: answer) == [] && answer.status == 403)
            }
            let app = try await server.call("GET", "/v1/clients", as: "ann")
            #expect(app.status == 200 && Self.field("vary", of: app) == ["Origin"])
        }
        try await TestServer.running { server in
            let other = [("Origin", "https://app.example")], own = [("Origin", "http://127.0.0.1:\(server.port)")]
            #expect(try await server.call("GET", "/v1/clients", as: "ann", headers: other).status == 403)
            let answer = try await server.call("GET", "/v1/clients", as: "ann", headers: own)
            #expect(answer.status == 200 && Self.field("access-control-allow-origin", of: answer) == [])
        }
    }

    @Test(arguments: [
        ("https://app.example", true), ("https://evil.example", false), ("null", false), (nil as String?, true),
    ])
    func `a socket is opened for pages of the same origins, and for clients that send none`(
        _ origin: String?, _ isOpened: Bool
    ) async throws {
        try await TestServer.running(environment: Self.allowed) { server in
            try await RawCall.connected(to: server.port) { call in
                do {
                    try await call.openSocket(fields: origin.map { ["Origin: \($0)"] } ?? [])
                    #expect(isOpened)
                } catch let refused as RawCall.Refused {
                    #expect(!isOpened && refused.head.hasPrefix("HTTP/1.1 403"))
                }
            }
        }
    }
}
