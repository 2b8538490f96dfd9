import Testing
import TidemarkModel
import TidemarkStore

@testable import TidemarkAssembly

/// A server's report of a database that was restored before it started.
@Suite(.timeLimit(.minutes(5))) struct RestoredEpochTests {
    private static let series = #"tidemark_epochs_total{reason="restore"}"#

    private static func with(_ store: InMemoryStore, _ body: @Sendable (TestServer) async throws -> Void) async throws {
        try await TestServer.running(over: OpenedStore(store), environment: TestServer.operated, body)
    }

    @Test func `a restore is counted once, by the server that follows the order first`() async throws {
        let store = InMemoryStore()
        try await Self.with(store) { server in
            let ann = try await TestClient.welcomed(server, as: "ann", 1)
            try await ann.push(from: 1, Sample.profile(11))
            _ = try await ann.settled(through: 1)
            #expect(try await Figures(of: server)[Self.series] ?? 0 == 0)
        }
        // As `tidemark restore` does it.
        let raise = EpochRaise(.standing(1), reason: .restore, nonce: 77, now: 2)
        _ = try await store.raiseEpoch(raise, in: WorkspaceID("w"))
        try await Self.with(store) { server in
            #expect(try await Figures(of: server)[Self.series] ?? 0 == 0, "nobody has come yet")
            let ann = try await TestClient.welcomed(server, as: "bob", 2)
            #expect(try await Figures(of: server)[Self.series] == 1)
            _ = try await TestClient.welcomed(server, as: "cyd", 3)
            #expect(try await Figures(of: server)[Self.series] == 1)
            try await ann.push(from: 1, Sample.profile(12))
            _ = try await ann.settled(through: 1)
        }
        // A write was committed in the epoch, so the restore is no longer reported.
        try await Self.with(store) { server in
            _ = try await TestClient.welcomed(server, as: "dan", 4)
            #expect(try await Figures(of: server)[Self.series] ?? 0 == 0)
        }
    }
}
