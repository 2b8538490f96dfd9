import NIOCore
import Testing
import TidemarkModel
import TidemarkNIOTransport
import TidemarkStore
import TidemarkWire

@testable import TidemarkAssembly
@testable import TidemarkNode
@testable import TidemarkOperations

/// Apps that the operator no longer serves.
@Suite(.timeLimit(.minutes(5))) struct EndedAppTests {
    /// Runs a server that serves apps from 2.4 on.
    private func running(_ body: @Sendable (TestServer) async throws -> Void) async throws {
        try await TestServer.running { server in
            #expect(try await server.apply(SchemaCall(requirement: "2.4")).status == 200)
            try await body(server)
        }
    }

    @Test func `an app that is too old is refused with the minimal version`() async throws {
        try await running { server in
            for app in ["chat 2.3", nil] {
                let client = try await TestClient.greeting(server, as: "ann", 1, app: app)
                let end = try await client.end()
                #expect(end.code == 4427)
                #expect(end.reason.hasPrefix("2.4:"), "\(end.reason)")
            }
        }
    }

    @Test func `newer apps and services are welcomed, and a bad token is refused first`() async throws {
        try await running { server in
            let ann = try await TestClient.greeting(server, as: "ann", 1, app: "chat 2.4.0")
            _ = try await ann.welcome()
            let backend = try await TestClient.greeting(server, as: "backend", 2, isService: true)
            _ = try await backend.welcome()
            let stranger = try await TestClient.open(server, 3)
            try await stranger.send(.hello(Hello(token: "x", client: stranger.id, isNewClient: true, connection: 1)))
            #expect(try await stranger.closeCode() == 4401)
        }
    }

    @Test func `connections of an ended app are closed within a tick, others stay, and it may be served again`()
        async throws
    {
        try await TestServer.running { server in
            let old = try await TestClient.greeting(server, as: "ann", 1, app: "chat 2.3")
            _ = try await old.welcome()
            let newer = try await TestClient.greeting(server, as: "bob", 2, app: "chat 2.4")
            _ = try await newer.welcome()
            _ = try await newer.changes()
            #expect(try await server.apply(SchemaCall(requirement: "2.4")).status == 200)
            #expect(try await old.closeCode() == 4427)
            try await newer.push(from: 1, Sample.profile(10))
            _ = try await newer.settled(through: 1)
            #expect(try await server.apply(SchemaCall(requirement: "")).status == 200)
            let back = try await TestClient.greeting(
                server, as: "ann", 1, isNew: false, counter: 2, app: "chat 2.3")
            _ = try await back.welcome()
        }
    }

    @Test func `a push over HTTP of an app that is ended is 426 and leaves no trace`() async throws {
        try await running { server in
            let client = Sample.id(1).description
            #expect(try await server.post("/v1/clients", as: "ann", body: #"{"client":"\#(client)"}"#).status == 200)
            func push(_ app: String?) async throws -> NIOHTTPAnswer {
                let call = PushCall(
                    client: Sample.id(1), connection: 1,
                    push: Push(first: 1, ackedThrough: 0, entries: [Push.Entry(Sample.profile(10))]), app: app)
                return try await server.post(
                    "/v1/push", as: "ann", body: String(decoding: call.encode(), as: UTF8.self))
            }
            for app in ["chat 2.3.9", nil] {
                let refused = try await push(app)
                #expect(refused.status == 426)
                #expect(refused.text.contains(#""code":"app_too_old""#) && refused.text.contains(#""min_app":"2.4""#))
            }
            let taken = try await push("chat 2.4")
            #expect(taken.status == 200 && taken.text.contains(#""lmid":1"#))
        }
    }
}
