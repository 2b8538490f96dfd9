import Foundation
import Logging
import Testing
import Tidemark
import TidemarkChat
import TidemarkModel
import TidemarkNIOTransport

@testable import TidemarkTerminal

/// The commands of three documents, run unchanged against a server process. Names, addresses and folders are the test's.
@Suite(.timeLimit(.minutes(5))) struct DocumentedRunTests {
    /// The documents whose unmarked commands are run here.
    static let documents = ["questions.md", "backup.md", "growing.md"]

    /// A server with the state that the documents assume, a device of bob's, and a record that he sees.
    private struct Ground {
        let folder: TemporaryFolder
        let server: ChildProcess
        let admin: String
        let address: String
        let record: String
        let device: String
        /// An empty database of PostgreSQL, where a document needs one.
        var grown = ""

        var database: String { "sqlite:\(folder.path)/t.sqlite" }

        /// The test's values for a document's placeholders.
        func words(_ argument: String) -> String {
            let names = [
                "W": "acme", "R": record, "D": device, "FOLDER": "\(folder.path)/1125",
                "report.json": file("report.json"),
                "token_secret": file("token_secret"), "admin_tokens": file("admin_tokens"),
                "http://127.0.0.1:8081": admin, "postgres://tidemark@db/tidemark": database,
                "postgres://tidemark@/tidemark": database,
                "postgres://tidemark@db/grown": grown, "sqlite:/var/lib/tidemark/tidemark.sqlite": database,
                "sqlite:/var/lib/tidemark/smaller.sqlite": "sqlite:\(folder.path)/smaller.sqlite",
                "postgres://tidemark@db/tidemark_restored": "sqlite:\(folder.path)/restored.sqlite",
            ]
            if let name = names[argument] { return name }
            return argument.hasPrefix("/backups/") ? argument.replacing("/backups/", with: "\(folder.path)/") : argument
        }

        func file(_ name: String) -> String { "\(folder.path)/\(name)" }
    }

    private static func with(_ body: (Ground) async throws -> Void) async throws {
        let folder = try TemporaryFolder("tidemark-documents")
        for (name, text) in [
            ("token_secret", String(repeating: "0123456789abcdef", count: 4)),
            ("admin_tokens", "ann " + String(repeating: "fedcba9876543210", count: 4)),
        ] { try text.write(toFile: "\(folder.path)/\(name)", atomically: true, encoding: .utf8) }
        let server = try ChildProcess(
            try Binary.path,
            [
                "serve", "--secret-file", "\(folder.path)/token_secret", "--schema",
                try ServerProcess.chatSchema(in: folder.path), "--listen", "127.0.0.1:0", "--admin-listen",
                "127.0.0.1:0", "--admin-token-file", "\(folder.path)/admin_tokens", "--database",
                "sqlite:\(folder.path)/t.sqlite", "--limit", "LOG_DAYS=30",
            ], environment: [:])
        defer { server.signal(SIGKILL) }
        var (admin, address): (String?, String?)
        for await line in server.lines {
            if line.contains("Operators are listened to"), let port = line.port { admin = "http://127.0.0.1:\(port)" }
            if line.contains("tidemark listening on"), let port = line.port { address = "http://127.0.0.1:\(port)" }
            if admin != nil, address != nil { break }
        }
        let (found, open) = (try #require(admin), try #require(address))
        let (record, device) = try await fill(folder, open)
        try await body(
            Ground(folder: folder, server: server, admin: found, address: open, record: record, device: device))
    }

    /// Bob writes something, and his device makes a report.
    private static func fill(_ folder: TemporaryFolder, _ address: String) async throws -> (String, String) {
        let token = try await Binary.run([
            "token", "--user", "bob", "--workspace", "acme", "--secret-file", "\(folder.path)/token_secret",
        ]).text
        let chat = try await Chat.open(account: UserID("bob"), at: URL(filePath: "\(folder.path)/bob"))
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        try chat.store.connect(to: address, transport: NIOTransport(), logger: logger) { token }
        let room = try await chat.conversations.createGroup(name: "all", imageURL: nil, members: [UserID("ann")]).id
        _ = try await chat.messages.send("hello", to: room)
        repeat {} while try await chat.store.syncNow().pending > 0
        try await chat.store.exportReport().write(to: URL(filePath: "\(folder.path)/report.json"))
        try await chat.store.close()
        let list = try await Binary.run([
            "devices", "list", "--workspace", "acme", "--secret-file", "\(folder.path)/token_secret", "--server",
            address,
        ])
        return ("\(room)".lowercased(), try #require(list.text.split(separator: "\t").first.map(String.init)))
    }

    private func run(
        _ document: String, _ ground: Ground,
        statuses: (DocumentedCommands.Command) -> ClosedRange<Int32> = { _ in 0...0 }
    ) async throws -> [String] {
        var ran: [String] = []
        for command in try DocumentedCommandsTests.commands()
        where command.document == document && !command.isMarked && DocumentedCommandsTests.isWhole(command) {
            try #require(command.program == "tidemark", "\(command)")
            var arguments = command.arguments.map(ground.words)
            switch arguments.first {
            case "why", "record", "may", "connections", "audit": arguments += ["--admin", ground.admin]
            case "verify" where arguments.contains("--device"): arguments += ["--admin", ground.admin]
            case "devices": arguments += ["--server", ground.address]
            default: break
            }
            let outcome = try await Binary.run(
                arguments,
                environment: [
                    "TIDEMARK_ADMIN_TOKEN_FILE": ground.file("admin_tokens"), "TIDEMARK_DATABASE": ground.database,
                    "TIDEMARK_SECRET_FILE": ground.file("token_secret"),
                ])
            #expect(statuses(command).contains(outcome.status), "\(command): \(outcome.text)")
            ran.append(command.arguments.joined(separator: " "))
        }
        return ran
    }

    @Test func `the five questions are answered by the documented commands`() async throws {
        try await Self.with { ground in
            // The last question is about a backup.
            let backup = try await Binary.run(["backup", ground.words("FOLDER"), "--database", ground.database])
            #expect(backup.status == 0, "\(backup.text)")
            let ran = try await run(Self.documents[0], ground) { command in
                // Status 1 means that there are findings.
                command.arguments.first == "doctor" ? 0...1 : 0...0
            }
            #expect(ran.contains("why --workspace W --user bob --record R") && ran.count >= 8, "\(ran)")
            #expect(ran.contains("why --workspace W --device D"), "\(ran)")
        }
    }

    @Test func `a backup is made, checked and restored by the documented commands`() async throws {
        try await Self.with { ground in
            let ran = try await run(Self.documents[1], ground)
            #expect(ran.contains { $0.hasPrefix("restore /backups/1125") } && ran.count >= 5, "\(ran)")
        }
    }

    @Test(.enabled(if: TestPostgres.uri != nil))
    func `a file goes into PostgreSQL, and back, by the commands that stand there`() async throws {
        try await TestPostgres.withDatabase { grown in
            try await Self.with { ground in
                var ground = ground
                ground.grown = grown
                let ran = try await run(Self.documents[2], ground)
                let way = ["backup", "restore", "verify"]
                #expect(ran.map { String($0.prefix { $0 != " " }) } == way + way)
            }
        }
    }
}

extension String {
    /// The number after the last `127.0.0.1:`.
    fileprivate var port: Int? {
        components(separatedBy: "127.0.0.1:").last.flatMap { Int($0.prefix { $0.isNumber }) }
    }
}
