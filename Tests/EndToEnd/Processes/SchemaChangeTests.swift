import Foundation
import Testing

@testable import TidemarkAssembly
@testable import TidemarkTerminal

/// A schema that an operator changes while the server runs.
@Suite(.timeLimit(.minutes(5))) struct SchemaChangeTests {
    private func apply(_ server: LiveServer, _ arguments: String...) async throws -> Binary.Outcome {
        try await Binary.run(
            ["schema", "apply", "--server", "http://\(server.address)"] + arguments,
            environment: ["TIDEMARK_SECRET": server.settings.secret])
    }

    /// The chat's document with a mood for each user, and without their e-mail on request.
    private func document(in server: LiveServer, withoutEmail: Bool = false) throws -> String {
        let email = #""email": { "type": "string", "max": 320 },"#
        let text = try String(contentsOfFile: server.settings.schema, encoding: .utf8)
            .replacing(#""version": 2"#, with: #""version": 3"#)
            .replacing(email, with: (withoutEmail ? "" : email) + #" "mood": "string","#)
        let path = "\(server.folder.path)/next.schema.json"
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    @Test func `a document is previewed, activated, and kept after a restart with the earlier file`() async throws {
        var server = try await LiveServer.start()
        let file = try document(in: server)
        let dry = try await apply(server, file, "--dry-run")
        #expect(dry.status == 0 && dry.text.contains("users.mood"), "\(dry.text)")
        #expect(dry.text.contains("0 records in all") && dry.text.contains("devices seen in the last"), "\(dry.text)")
        let applied = try await apply(server, file, "--note", "ann")
        #expect(applied.status == 0 && applied.text.contains("in force as revision 2"), "\(applied.text)")
        let again = try await apply(server, file)
        #expect(again.text.contains("nothing to do"), "\(again.text)")
        let narrower = try await apply(server, try document(in: server, withoutEmail: true))
        #expect(narrower.status == 1 && narrower.text.contains("users.email"), "\(narrower.text)")
        server = try await server.killedAndStarted()
        let shown = try await Binary.run(
            ["schema", "show", "--server", "http://\(server.address)"],
            environment: ["TIDEMARK_SECRET": server.settings.secret])
        #expect(shown.status == 0 && shown.text.contains("mood") && shown.text.contains("revision 2"), "\(shown.text)")
        #expect(try await server.process.stop() == 0)
    }

    @Test func `without a running server, or with another secret, the command says what prevents it`() async throws {
        let server = try await LiveServer.start()
        let file = try document(in: server)
        let stranger = try await Binary.run(
            ["schema", "apply", "--server", "http://\(server.address)", file],
            environment: ["TIDEMARK_SECRET": String(repeating: "x", count: 32)])
        #expect(stranger.status == 1 && stranger.text.contains("token"), "\(stranger.text)")
        #expect(try await server.process.stop() == 0)
        let gone = try await apply(server, file)
        #expect(gone.status == 1 && gone.text.contains("tidemark serve"), "\(gone.text)")
        for arguments in [["--server", "https://x", file], ["--dry-run"]] {
            let outcome = try await Binary.run(
                ["schema", "apply"] + arguments, environment: ["TIDEMARK_SECRET": server.settings.secret])
            #expect(outcome.status != 0)
        }
    }
}
