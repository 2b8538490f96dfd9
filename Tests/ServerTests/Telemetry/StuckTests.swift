import Testing
import TidemarkModel
import TidemarkWire

/// A device that cannot apply the frames it receives, as the operator sees it.
@Suite(.timeLimit(.minutes(5))) struct StuckTests {
    @Test func `a device that reports itself stuck is counted and logged with its user, and is the answer to why`()
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

    @Test func `a record that a device's copy refuses is not reported as present, connected or between two attempts`()
        async throws
    {
        try await TestServer.administered { server in
            let bob = try await TestClient.welcomed(server, as: "bob", 2)
            try await bob.push(from: 1, Sample.conversation(30, of: "bob", "ann"))
            _ = try await bob.settled(through: 1)
            let before = try await TestClient.greeting(server, as: "ann", 1)
            let cursor = try await before.welcome().cursor
            await before.leave()
            try await bob.push(from: 2, Sample.message(31, in: 30))
            _ = try await bob.settled(through: 2)
            let ann = try await TestClient.open(server, 1)
            try await ann.send(
                .hello(
                    Hello(
                        token: try server.token("ann"), client: ann.id, isNewClient: false, connection: 2,
                        cursor: cursor, stuck: 4)))
            _ = try await ann.welcome()
            _ = try await ann.changes(acknowledging: false)
            let question = "why?workspace=w&user=ann&record=\(Sample.id(31))"
            let here = try await server.admin(question)
            let reason = "cannot take in what it is sent: it ended 4 connections in a row"
            #expect(here.text("answer") == "cannot_apply", "\(here.text("text") ?? "")")
            #expect(here.text("sentence")?.contains("device \(ann.id) is connected and \(reason)") == true)
            #expect(here.list("devices").map { $0.text("state") } == ["cannot_apply"])
            await ann.leave()
            var gone = Fields()
            while gone.text("sentence")?.contains("its last connection ended so") != true, !Task.isCancelled {
                gone = try await server.admin(question)
            }
            #expect(gone.text("answer") == "cannot_apply" && gone.text("sentence")?.contains(reason) == true)
            // The device has the records that it acknowledged before.
            let earlier = try await server.admin("why?workspace=w&user=ann&record=\(Sample.id(30))")
            #expect(earlier.text("answer") == "delivered")
        }
    }
}
