import Testing
import TidemarkHub
import TidemarkNIOTransport
import TidemarkWire

@testable import TidemarkAssembly
@testable import TidemarkIdentity

@Suite struct TokenEndTests {
    private static let start: Int64 = 1_767_225_600_000

    @Test func `a token is accepted up to the very moment at which its connections are closed`() throws {
        let secret = try #require(TokenSecret([UInt8](repeating: 7, count: 32)))
        let token = try TokenIssuer(secret: secret) { Self.start }
            .issue(user: "ann", workspace: "w", lifetime: .seconds(600))
        let end = Self.start + 600_000
        for late in [-1, 0, 30_000, 59_999] as [Int64] {
            let identity = try #require(Identity(TokenVerifier(secret: secret) { end + late }, token))
            #expect(identity.expires == end && identity.acceptedUntil == end + 60_000)
        }
        #expect(Identity(TokenVerifier(secret: secret) { end + 60_000 }, token) == nil)
    }

    @Test(.timeLimit(.minutes(5)))
    func `an expired token that is accepted by calls is accepted by connections, and none later`() async throws {
        try await TestServer.running { server in
            let token = try server.expiredToken("ann", since: .seconds(20))
            #expect(try await Self.pull(server, token).status == 200)
            let client = try await TestClient.open(server, 1)
            try await client.send(.hello(Hello(token: token, client: client.id, isNewClient: true, connection: 1)))
            #expect(try await client.welcome().tokenExpires < ServerAssembly.Surroundings().now())
            let late = try server.expiredToken("ann", since: .seconds(61))
            #expect(try await Self.pull(server, late).status == 401)
            try await client.send(.auth(Auth(token: late)))
            #expect(try await client.closeCode() == 4401)
        }
    }

    private static func pull(_ server: TestServer, _ token: String) async throws -> NIOHTTPAnswer {
        try await server.post("/v1/pull", body: #"{"scopes":[]}"#, headers: [("Authorization", "Bearer \(token)")])
    }
}
