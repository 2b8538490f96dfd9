import Foundation
import Testing
import TidemarkGateway

@testable import TidemarkDaemon

/// The program as a person meets it.
@Suite struct CommandTests {
    @Test(arguments: [
        [
            "serve", "--database", "--listen", "--schema", "--secret-file", "--dev", "--log-level", "--rate",
            "--ledger-days",
            "--limit",
        ],
        ["token", "--user", "--workspace", "--ttl", "--service", "--secret-file", "--dev"],
        ["schema check", "<file>"],
        ["demo", "--from", "--messages", "--clients", "--nodes", "--kills", "--database", "--seed", "--folder"],
        [
            "chat", "--user", "--conversation", "--with", "--server", "--database", "--token-file", "--dev",
            "--patience",
        ],
        ["inspect", "--json", "record COLLECTION ID"],
        [
            "bench writes", "--writers", "--sharing", "--in-flight", "--seconds", "--bytes", "--server", "--database",
            "--json",
        ],
        ["bench fanout", "--subscribers", "--writers", "--rate", "--seconds", "--bytes", "--server", "--json"],
        ["bench catchup", "--records", "--clients", "--bytes", "--server", "--json"],
        ["bench idle", "--connections", "--server-process", "--json"],
        ["bench local", "--messages", "--conversations", "--rounds", "--strict", "--json"],
        ["bench sdk", "--writes", "--records", "--bytes", "--json"],
    ])
    func `the help of a command names each of its options`(_ words: [String]) async throws {
        let command = words[0].split(separator: " ").map(String.init)
        let help = try await Binary.run(command + ["--help"])
        #expect(help.status == 0)
        for option in words.dropFirst() { #expect(help.text.contains(option), "\(option) is not in\n\(help.text)") }
    }

    @Test func `the help of serve names the environment variable of each of its settings`() async throws {
        let help = try await Binary.run(["serve", "--help"])
        for variable in ["DATABASE", "LISTEN", "SCHEMA", "SECRET_FILE", "SECRET", "DEV", "LOG_LEVEL", "LIMIT_RATE"] {
            #expect(help.text.contains("TIDEMARK_\(variable)"), "\(variable)")
        }
    }

    @Test(arguments: [
        ["serve", "--nonsense"], ["serve", "--dev", "--listen", "nowhere"], ["serve", "--dev", "--log-level", "loud"],
        ["serve", "--dev", "--limit", "RATE"], ["serve", "--dev", "--limit", "NONE=1"],
        ["serve", "--dev", "--rate", "0"], ["serve", "--dev", "--database", "mysql://x"], ["token", "--dev"],
        ["token", "--dev", "--user", "ann", "--ttl", "soon"], ["token", "--dev", "--user", "ann", "--ttl", "48h"],
        ["demo", "--messages", "0"], ["demo", "--nodes", "2"], ["demo", "--kills", "9", "--messages", "5"],
        ["bench", "writes", "--writers", "0"], ["bench", "idle", "--server", "nowhere"], ["nonsense"],
        ["chat", "--user", "ann"], ["chat", "--user", "ann", "--conversation", "bob", "--server", "nowhere"],
    ])
    func `wrong usage ends with status 64 and says what is wrong`(_ arguments: [String]) async throws {
        let outcome = try await Binary.run(arguments)
        #expect(outcome.status == 64, "\(outcome.text)")
        #expect(outcome.text.contains("Error:"), "\(outcome.text)")
    }

    @Test func `a server prints its address and stops in good order`() async throws {
        let server = try await LiveServer.start()
        #expect(server.address.port > 0)
        #expect(try await server.process.stop() == 0)
    }

    @Test func `a server without a secret says how to get one`() async throws {
        let outcome = try await Binary.run(["serve", "--listen", "127.0.0.1:0"])
        #expect(outcome.status == 1)
        #expect(outcome.text.contains("TIDEMARK_SECRET_FILE"), "\(outcome.text)")
    }

    @Test func `a token is what a server with the same secret accepts`() async throws {
        let (secret, text) = try TokenSecret.random()
        let outcome = try await Binary.run(
            ["token", "--user", "ann", "--workspace", "acme", "--ttl", "90s", "--service"],
            environment: ["TIDEMARK_SECRET": text])
        #expect(outcome.status == 0)
        let verified = try TokenVerifier(secret: secret, now: wallClock).verify(outcome.text)
        #expect(verified.user == "ann")
        #expect(verified.workspace == "acme")
        #expect(verified.isService)
        #expect((1...90_000).contains(verified.expiresAt - wallClock()))
    }

    @Test func `a schema is summed up, or refused with the place of its mistake`() async throws {
        let folder = try TemporaryFolder("tidemark-tests")
        defer { withExtendedLifetime(folder) {} }
        let good = "\(folder.path)/good.json"
        let bad = "\(folder.path)/bad.json"
        let text = #"{"tidemark":1,"name":"shop","collections":{"orders":{"scope":"self","members":"staff","#
        try (text + #""fields":{"staff":{"type":"set","merge":"elements"}}}}}"#)
            .write(toFile: good, atomically: true, encoding: .utf8)
        try (text + #""fields":{"staff":{"type":"crowd"}}}}}"#).write(toFile: bad, atomically: true, encoding: .utf8)
        let accepted = try await Binary.run(["schema", "check", good])
        #expect(accepted.status == 0)
        #expect(accepted.text.contains("shop, version 1"))
        #expect(accepted.text.contains("staff  set elements"))
        let refused = try await Binary.run(["schema", "check", bad])
        #expect(refused.status == 1)
        #expect(refused.text.contains("orders.staff"), "\(refused.text)")
    }

    @Test func `what a newer schema costs older apps is named, and fails the check until it is accepted`() async throws
    {
        let folder = try TemporaryFolder("tidemark-tests")
        defer { withExtendedLifetime(folder) {} }
        func file(_ name: String, _ more: String, _ fields: String) throws -> String {
            let text = """
                {"tidemark": 1, "name": "shop", \(more), "collections": {"orders": {
                    "scope": {"shared": "all"}, "fields": {\(fields)}}}}
                """
            try text.write(toFile: "\(folder.path)/\(name)", atomically: true, encoding: .utf8)
            return "\(folder.path)/\(name)"
        }
        let old = try file("old.json", #""version": 1"#, #""problem": "string", "note": "string""#)
        let wider = try file(
            "wider.json", #""version": 2"#,
            #""fault": {"type": "string", "was": "problem"}, "note": "string", "paid": "boolean""#)
        let narrower = try file("narrower.json", #""version": 2"#, #""problem": "string""#)
        let fine = try await Binary.run(["schema", "check", wider, "--against", old])
        #expect(fine.status == 0, "\(fine.text)")
        #expect(fine.text.contains("added\n  orders.paid"))
        #expect(fine.text.contains("renamed\n  orders.problem to fault"))
        let refused = try await Binary.run(["schema", "check", narrower, "--against", old])
        #expect(refused.status == 1)
        #expect(refused.text.contains("taken away\n  orders.note"))
        #expect(refused.text.contains("--accept"))
        let accepted = try await Binary.run(["schema", "check", narrower, "--against", old, "--accept"])
        #expect(accepted.status == 0 && accepted.text.contains("taken away"))
        let alone = try await Binary.run(["schema", "check", old, "--accept"])
        #expect(alone.status == 64 && alone.text.contains("--against"))
    }
}
