import Foundation
import Testing
import TidemarkLock
import TidemarkModel
import TidemarkNIOTransport
import TidemarkWire

@testable import TidemarkAssembly
@testable import TidemarkIdentity

/// A real server with issuers that publish their keys at a real endpoint.
@Suite(.timeLimit(.minutes(5))) struct KeyRotationTests {
    private static func pull(_ server: TestServer, _ token: String) async throws -> NIOHTTPAnswer {
        try await server.post("/v1/pull", body: #"{"scopes":[]}"#, headers: [("Authorization", "Bearer \(token)")])
    }

    /// The server's answer to a hello with this token: `welcome`, or the close code.
    private static func hello(_ server: TestServer, _ token: String, _ id: UInt64) async throws -> String {
        let client = try await TestClient.open(server, id)
        try await client.send(.hello(Hello(token: token, client: client.id, isNewClient: true, connection: 1)))
        do {
            _ = try await client.welcome()
            return "welcome"
        } catch let closed as TransportClosed {
            return "\(closed.code)"
        }
    }

    /// A clock that a test moves.
    private final class MovedClock: Sendable {
        private let ahead = Lock<Int64>(0)
        var surroundings: ServerAssembly.Surroundings {
            var surroundings = ServerAssembly.Surroundings()
            let now = surroundings.now
            surroundings.now = { now() + self.ahead.current }
            return surroundings
        }
        func advance(_ duration: Duration) {
            ahead.add(Int64(duration / .milliseconds(1)))
        }
    }

    @Test func `an issuer's tokens are accepted by socket and by call, and those for another app are not`() async throws
    {
        let key = IssuerKey(id: "one")
        let log = LogCapture()
        try await KeyEndpoint.running(.init(body: IssuerKey.set(key))) { _, port in
            let file = try IssuerKey.file(port: port)
            try await TestServer.running(environment: ["TIDEMARK_ISSUERS": file.path], log: log) { server in
                #expect(try await Self.pull(server, try key.token("ann")).status == 200)
                #expect(try await Self.hello(server, try key.token("ann"), 1) == "welcome")
                #expect(try await Self.pull(server, try server.token("bob")).status == 200, "the secret counts as well")
                let other = try key.token("ann", audience: "another")
                let refused = try await Self.pull(server, other)
                #expect(refused.status == 401 && refused.text.contains("meant for another server"))
                #expect(try await Self.hello(server, other, 2) == "4401")
                #expect(server.refusals.all == ["wrong_audience": 2])
            }
        }
        #expect(log.lines.contains { $0.hasPrefix("info Refused a token") && $0.contains("label=wrong_audience") })
        #expect(!log.lines.contains { $0.contains("eyJ") }, "no part of a token is logged")
    }

    @Test func `keys that are rotated under load sign no user out`() async throws {
        let (first, second) = (IssuerKey(id: "one"), IssuerKey(id: "two"))
        let clock = MovedClock()
        try await KeyEndpoint.running(.init(body: IssuerKey.set(first))) { endpoint, port in
            let file = try IssuerKey.file(port: port)
            try await TestServer.running(
                environment: ["TIDEMARK_ISSUERS": file.path], surroundings: clock.surroundings
            ) { server in
                #expect(try await Self.pull(server, try first.token("ann")).status == 200)
                // For 10 s the endpoint is not called again: the clients wait.
                endpoint.answer.body = IssuerKey.set(second)
                let before = endpoint.requests
                async let pulled = Self.pull(server, try second.token("ann"))
                async let greeted = Self.hello(server, try second.token("ann"), 1)
                clock.advance(.seconds(11))
                #expect(try await pulled.status == 200)
                #expect(try await greeted == "welcome")
                let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                    for number in 0..<100 {
                        group.addTask { try await Self.pull(server, try second.token("user\(number)")).status }
                    }
                    return try await group.reduce(into: [Int: Int]()) { $0[$1, default: 0] += 1 }
                }
                #expect(statuses == [200: 100])
                #expect(endpoint.requests == before + 1, "one fetch for all")
                async let gone = Self.pull(server, try first.token("ann"))
                clock.advance(.seconds(11))
                #expect(try await gone.status == 401, "keys that were fetched since are without it")
                #expect(server.refusals.all == ["unknown_key": 1])
            }
        }
    }

    @Test func `an endpoint that is down for a day signs no user out`() async throws {
        let (key, other) = (IssuerKey(id: "one"), IssuerKey(id: "two"))
        let clock = MovedClock()
        try await KeyEndpoint.running(.init(body: IssuerKey.set(key))) { endpoint, port in
            let file = try IssuerKey.file(port: port)
            try await TestServer.running(
                environment: ["TIDEMARK_ISSUERS": file.path], surroundings: clock.surroundings
            ) { server in
                let now = { clock.surroundings.now() }
                #expect(try await Self.pull(server, try key.token("ann", at: now())).status == 200)
                endpoint.answer.status = 500
                clock.advance(.seconds(3_600))
                #expect(try await Self.pull(server, try key.token("ann", at: now())).status == 200)
                #expect(try await Self.hello(server, try key.token("ann", at: now()), 1) == "welcome")
                #expect(try await Self.pull(server, try other.token("ann", at: now())).status == 503)
                clock.advance(.seconds(24 * 3_600))
                #expect(try await Self.pull(server, try key.token("ann", at: now())).status == 503)
                #expect(try await Self.hello(server, try key.token("ann", at: now()), 2) == "4503")
                endpoint.answer.status = 200
                clock.advance(.seconds(11))
                #expect(try await Self.pull(server, try key.token("ann", at: now())).status == 200)
                async let bad = Self.pull(server, try other.token("ann", at: now()))
                clock.advance(.seconds(11))
                #expect(try await bad.status == 401)
            }
        }
    }

    @Test func `a flood of unknown keys makes few requests, and harms no other user`() async throws {
        let key = IssuerKey(id: "one")
        let clock = MovedClock()
        try await KeyEndpoint.running(.init(body: IssuerKey.set(key))) { endpoint, port in
            let file = try IssuerKey.file(port: port)
            try await TestServer.running(
                environment: ["TIDEMARK_ISSUERS": file.path], surroundings: clock.surroundings
            ) { server in
                #expect(try await Self.pull(server, try key.token("ann")).status == 200)
                let now = { @Sendable in clock.surroundings.now() }
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in 0..<200 {
                        group.addTask {
                            let token = try IssuerKey(id: "k\(number)").token("ann", at: now())
                            #expect(try await Self.pull(server, token).status == 401)
                        }
                    }
                    for _ in 0..<20 {
                        #expect(try await Self.pull(server, try key.token("ann")).status == 200)
                    }
                    #expect(endpoint.requests <= 3, "at most one in ten seconds")
                    while server.refusals.all["unknown_key"] ?? 0 < 200 {
                        clock.advance(.seconds(11))
                        #expect(try await Self.pull(server, try key.token("ann", at: now())).status == 200)
                    }
                    try await group.waitForAll()
                }
            }
        }
    }

    @Test func `a token with a false claim is refused for good while keys are fresh`() async throws {
        let key = IssuerKey(id: "one")
        try await KeyEndpoint.running(.init(body: IssuerKey.set(key))) { _, port in
            let file = try IssuerKey.file(port: port)
            try await TestServer.running(environment: ["TIDEMARK_ISSUERS": file.path]) { server in
                #expect(try await Self.pull(server, try key.token("ann")).status == 200)
                let forged = try await Self.pull(server, try IssuerKey(id: "one").token("ann"))
                #expect(forged.status == 401 && forged.text.contains("not accepted here"))
                #expect(server.refusals.all == ["bad_signature": 1])
            }
        }
    }
}
