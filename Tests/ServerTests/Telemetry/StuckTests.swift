import Testing
import TidemarkModel
import TidemarkWire

/// A device that cannot take in what it is sent, as the operator sees it.
@Suite(.timeLimit(.minutes(5))) struct StuckTests {
    @Test func `a device that says it is stuck is counted, leaves a line with who it is, and is the answer to why`()
        async throws
    {
        let log = LogCapture()
        try await TestServer.administered(log: log) { server in
            let well = try await TestClient.welcomed(server, as: "bob", 2)
            _ = well
            let ann = try await TestClient.open(server, 1)
            try await ann.send(
                .hello(
                    Hello(token: try server.token("ann"), client: ann.id, isNewClient: true, connection: 1, stuck: 4)))
            _ = try await ann.welcome()
            let figures = try await server.figures(until: "tidemark_stuck_hellos_total", reaches: 1)
            #expect(figures["tidemark_stuck_hellos_total"] == 1)
            await ann.leave()
            var answer = Fields()
            while answer.text("answer") != "cannot_apply", !Task.isCancelled {
                answer = try await server.admin("device?workspace=w&client=\(ann.id)")
            }
            #expect(answer.text("sentence")?.contains("ended 4 connections in a row") == true)
        }
        #expect(log.lines.count { $0.contains("cannot take in what it is sent") && $0.contains("connections=4") } == 1)
    }
}
