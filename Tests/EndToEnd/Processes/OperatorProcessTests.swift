import Foundation
import Testing

@testable import TidemarkTerminal

/// The commands that call a server's operators' listener, and those that add a line to its audit.
@Suite(.timeLimit(.minutes(5))) struct OperatorProcessTests {
    private static let id = "018f3a2b-0000-7000-8000-000000000001"

    @Test func `commands print the listener's answers, and their changes are in the audit`() async throws {
        let folder = try TemporaryFolder("tidemark-tests")
        let (server, admin, address) = try await Self.started(folder)
        let options = ["--dev", "--dev-data", folder.path, "--admin", admin]
        func run(_ arguments: String...) async throws -> Binary.Outcome { try await Binary.run(arguments + options) }

        let none = try await run("why", "--user", "bob", "--record", Self.id)
        #expect(none.status == 0, "\(none.text)")
        #expect(none.text.hasSuffix("because nothing was ever written in workspace default, whose name may be wrong."))
        let device = try await run("why", "--device", Self.id, "--json")
        #expect(device.status == 0 && device.text.contains(#""answer":"unknown""#))
        let may = try await run(
            "may", "--user", "ann", "create", "users/\(Self.id)", "--fields", #"{"displayName":"Ann"}"#)
        #expect(may.status == 0 && may.text.contains("ann may create users/\(Self.id)."), "\(may.text)")
        let mayNot = try await run("may", "--user", "ann", "delete", "users/\(Self.id)")
        #expect(mayNot.status == 1 && mayNot.text.contains("not_found"))
        for list in [["connections"], ["connections", "--closed"], ["connections", "--refused"]] {
            let outcome = try await Binary.run(list + options)
            #expect(outcome.status == 0 && outcome.text.isEmpty, "\(outcome.text)")
        }
        #expect(try await run("record", Self.id).status == 1)
        #expect(try await Binary.run(["why", "--user", "bob", "--dev"]).status == 64)
        let refused = try await Binary.run(
            ["audit", "--admin", admin, "--admin-token-file", try folder.file("wrong", "x")])
        #expect(refused.status == 1 && refused.text.contains("needs a token for operators"))

        let revoked = try await Binary.run([
            "devices", "revoke", "--user", "bob", "--workspace", "default", "--why", "left us", "--dev", "--dev-data",
            folder.path, "--server", address,
        ])
        #expect(revoked.status == 1 && revoked.text.contains("are refused"), "\(revoked.text)")
        #expect(
            revoked.text.contains(#"no device of the user "bob" is known in the workspace "default""#),
            "\(revoked.text)")
        let audit = try await run("audit")
        let columns = audit.text.split(separator: "\t").map(String.init)
        #expect(columns.contains("operator") && columns.contains("revoke") && columns.contains("left us"))
        #expect(columns.last == "done")
        server.signal(SIGTERM)
        #expect(await server.ended() == 0)
    }

    @Test func `changes made at a shell are in the audit, also failed ones`() async throws {
        let folder = try TemporaryFolder("tidemark-tests")
        let (first, _, _) = try await Self.started(folder)
        first.signal(SIGTERM)
        #expect(await first.ended() == 0)
        let failed = try await Binary.run([
            "compact", "--workspace", "nowhere", "--keep", "30d", "--why", "they asked", "--database",
            Self.database(in: folder),
        ])
        #expect(failed.status == 1)
        let (server, admin, _) = try await Self.started(folder)
        let kept = try await Binary.run(["audit", "--dev", "--dev-data", folder.path, "--admin", admin])
        #expect(kept.text.contains("(shell)\tcompact\tnowhere\t-\tkeep 2592000 s\tthey asked\t"), "\(kept.text)")
        #expect(kept.text.contains("there is no workspace nowhere"))
        server.signal(SIGTERM)
        #expect(await server.ended() == 0)
    }

    private static func database(in folder: TemporaryFolder) -> String { "sqlite:\(folder.path)/t.sqlite" }

    /// Starts a development server, and returns its addresses for operators and clients.
    static func started(
        _ folder: TemporaryFolder
    ) async throws -> (process: ChildProcess, admin: String, address: String) {
        let server = try ChildProcess(
            try Binary.path,
            [
                "serve", "--dev", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", "--database",
                database(in: folder), "--limit", "LOG_DAYS=1",
            ], environment: [:])
        var (admin, address): (String?, String?)
        for await line in server.lines {
            if line.contains("Operators are listened to"), let port = line.port { admin = "http://127.0.0.1:\(port)" }
            if line.contains("tidemark listening on"), let port = line.port { address = "http://127.0.0.1:\(port)" }
            if admin != nil, address != nil { break }
        }
        return (server, try #require(admin), try #require(address))
    }
}

extension String {
    /// The number after the last `127.0.0.1:`.
    fileprivate var port: Int? {
        components(separatedBy: "127.0.0.1:").last.flatMap { Int($0.prefix { $0.isNumber }) }
    }
}

extension TemporaryFolder {
    func file(_ name: String, _ text: String) throws -> String {
        let path = "\(self.path)/\(name)"
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }
}
