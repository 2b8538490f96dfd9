import Testing
import TidemarkModel
import TidemarkWire

/// what devices say that they had otherwise.
@Suite(.timeLimit(.minutes(5))) struct DivergenceTests {
    @Test func `records that were wrong are counted, and leave a line with who had them`() async throws {
        let log = LogCapture()
        try await TestServer.running(environment: TestServer.operated, log: log) { server in
            let ann = try await TestClient.welcomed(server, as: "ann", 1)
            try await ann.send(.ack(Ack(frames: 0, diverged: 3)))
            _ = try await server.figures(until: "tidemark_divergence_total", reaches: 3)
            try await ann.send(.ack(Ack(frames: 0, diverged: 9_000_000_000)))
            let figures = try await server.figures(until: "tidemark_divergence_total", reaches: 4)
            #expect(figures["tidemark_divergence_total"] == 1_000_003, "no more counts of one word than this")
        }
        #expect(log.lines.count { $0.contains("had records otherwise") && $0.contains("records=3 user=ann") } == 1)
    }

    @Test func `answers to who compares are counted`() async throws {
        try await TestServer.running(environment: TestServer.operated) { server in
            let ann = try await TestClient.welcomed(server, as: "ann", 1)
            try await ann.send(
                .compare(
                    CompareRequest(
                        id: 1, scope: ScopeID("directory"), since: 0, collection: "users", from: 0, lists: false)))
            let figures = try await server.figures(until: "tidemark_comparisons_total", reaches: 1)
            #expect(figures["tidemark_divergence_total"] == 0)
        }
    }
}
