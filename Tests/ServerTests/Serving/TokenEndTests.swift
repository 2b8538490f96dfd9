import Testing
import TidemarkHub
import TidemarkNIOTransport
import TidemarkWire

@testable import TidemarkAssembly
@testable import TidemarkIdentity

@Suite struct TokenEndTests {
    @Test(.timeLimit(.minutes(5)))
    func `calls and connections accept an expired token for the same time`() async throws {
        try await TestServer.running { server in
            let token = try await server.expiredToken("ann", since: .seconds(20))
            #expect(try await Self.pull(server, token).status == 200)
            let client = try await TestClient.open(server, 1)
            try await client.send(.hello(Hello(token: token, client: client.id, isNewClient: true, connection: 1)))
            #expect(try await client.welcome().tokenExpires < ServerAssembly.Surroundings().now())
            let late = try await server.expiredToken("ann", since: .seconds(61))
            #expect(try await Self.pull(server, late).status == 401)
            try await client.send(.auth(Auth(token: late)))
            #expect(try await client.closeCode() == 4401)
        }
    }

    private static func pull(_ server: TestServer, _ token: String) async throws -> NIOHTTPAnswer {
        try await server.post("/v1/pull", body: #"{"scopes":[]}"#, headers: [("Authorization", "Bearer \(token)")])
    }
}
