import Testing
import TidemarkModel
import TidemarkWire

/// diverged records that devices report.
@Suite(.timeLimit(.minutes(5))) struct DivergenceTests {
    @Test func `a device raises the figure by one a connection, whatever number it reports, and is named with it`()
        async throws
    {
        let log = LogCapture()
        try await TestServer.administered(log: log) { server in
            let ann = try await TestClient.welcomed(server, as: "ann", 1)
            for records: Int64 in [3, 9_000_000_000, 9_000_000_000, 4] {
                try await ann.send(.ack(Ack(frames: 0, diverged: records)))
            }
            var answer = Fields()
            while answer.text("text")?.contains("of ann said that 1000000 of its records") != true, !Task.isCancelled {
                answer = try await server.admin("device?workspace=w&client=\(ann.id)")
            }
            await ann.leave()
            let bob = try await TestClient.welcomed(server, as: "bob", 2)
            try await bob.send(.ack(Ack(frames: 0, diverged: 2)))
            let figures = try await server.figures(until: "tidemark_divergence_total", reaches: 2)
            #expect(figures["tidemark_divergence_total"] == 2, "two connections said so")
            while answer.text("text")?.contains("not connected") != true, !Task.isCancelled {
                answer = try await server.admin("device?workspace=w&client=\(ann.id)")
            }
            #expect(answer.text("text")?.contains("of ann said that 1000000 of its records") == true)
            #expect(log.lines.contains { $0.contains("client=\(ann.id)") && $0.contains("records=3 user=ann") })
        }
        #expect(log.lines.count { $0.contains("reports records that differ") } == 5, "a line for each report")
    }

    @Test func `answers to comparing devices are counted`() async throws {
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
