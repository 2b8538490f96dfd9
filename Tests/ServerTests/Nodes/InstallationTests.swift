import Testing
import TidemarkModel
import TidemarkWire

@testable import TidemarkAssembly

/// Two installations in two schemas of one PostgreSQL database.
@Suite(.enabled(if: PostgresSchemaForTests.isGiven), .timeLimit(.minutes(5))) struct InstallationTests {
    private static func typing(_ lifetime: Int64) -> ClientMessage {
        .ephemeral(Ephemeral(scope: Sample.scope(10), kind: "typing", lifetime: lifetime))
    }

    /// Connects two members of one conversation to two servers of an installation.
    private static func pair(
        _ schema: PostgresSchemaForTests,
        _ body: @Sendable (_ ann: TestClient, _ bob: TestClient) async throws -> Void
    ) async throws {
        try await TestServer.running(over: try await schema.open()) { one in
            try await TestServer.running(over: try await schema.open()) { other in
                let ann = try await TestClient.welcomed(one, as: "ann", 1)
                let bob = try await TestClient.welcomed(other, as: "bob", 2)
                try await ann.push(from: 1, Sample.conversation(10, of: "ann", "bob"))
                _ = try await ann.settled(through: 1)
                while try await bob.changes().grants.isEmpty {}
                try await body(ann, bob)
            }
        }
    }

    @Test func `messages of one are not received in the other, by users of the same names in the same scope`()
        async throws
    {
        try await PostgresSchemaForTests.with { here in
            try await PostgresSchemaForTests.with { there in
                try await Self.pair(here) { ann, bob in
                    try await Self.pair(there) { ann2, bob2 in
                        try await ann.send(Self.typing(1_111))
                        #expect(try await bob.ephemeral().lifetime == 1_111)
                        // Notified later: a client that received the first would have it before this.
                        try await ann2.send(Self.typing(2_222))
                        #expect(try await bob2.ephemeral().lifetime == 2_222)
                        try await ann.send(Self.typing(3_333))
                        #expect(try await bob.ephemeral().lifetime == 3_333)
                    }
                }
            }
        }
    }
}
