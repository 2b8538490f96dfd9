import ArgumentParser
import Foundation
import Testing

@testable import TidemarkDaemon
@testable import TidemarkTerminal

/// The programs can parse every command line of the operators' documents.
@Suite struct DocumentedCommandsTests {
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// The operators' documents.
    static func pages() throws -> [(name: String, text: String)] {
        let folder = root.appending(path: "deploy")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        return try names.sorted().filter { $0.hasSuffix(".md") }.map { name in
            (name, try String(contentsOf: folder.appending(path: name), encoding: .utf8))
        }
    }

    static func commands() throws -> [DocumentedCommands.Command] {
        try pages().flatMap { DocumentedCommands($0.text, named: $0.name).commands }
    }

    /// A parser's objection to a command; `nil` for none.
    private static func complaint(_ command: DocumentedCommands.Command) -> String? {
        func against<Program: ParsableCommand>(_ program: Program.Type) -> String? {
            do {
                _ = try program.parseAsRoot(command.arguments)
                return nil
            } catch {
                // The help was requested.
                guard program.exitCode(for: error) != .success else { return nil }
                return program.message(for: error)
            }
        }
        return command.program == "tide" ? against(TideCommand.self) : against(TidemarkCommand.self)
    }

    /// True when it only names a command.
    private static func isName(_ command: DocumentedCommands.Command) -> Bool {
        var program: any ParsableCommand.Type = command.program == "tide" ? TideCommand.self : TidemarkCommand.self
        for argument in command.arguments {
            guard
                let next = program.configuration.subcommands.first(where: { $0.configuration.commandName == argument })
            else { return false }
            program = next
        }
        return true
    }

    /// True when no part of it is left out.
    static func isWhole(_ command: DocumentedCommands.Command) -> Bool {
        !command.arguments.isEmpty && complaint(command).map(isOfOperator) ?? true
    }

    /// True when the complaint is about a file or a device of the operator's.
    private static func isOfOperator(_ complaint: String) -> Bool {
        complaint.contains("cannot read the file") || complaint.hasPrefix("The value 'D' is invalid")
    }

    @Test func `every command of the operators' documents can be parsed by its program`() throws {
        let commands = try Self.commands()
        #expect(commands.count > 60)
        for command in Set(commands) {
            guard let complaint = Self.complaint(command) else { continue }
            if Self.isOfOperator(complaint) { continue }
            // A mention names a command, and may leave out its arguments.
            if command.isMention, complaint.hasPrefix("Missing ") || Self.isName(command) { continue }
            Issue.record("\(command): \(complaint)")
        }
    }

    @Test func `commands are found in blocks, lines, substitutions and other shells, and nothing else is`() {
        let text = """
            Say `tidemark compact --workspace acme`, or `tidemark_total`; the role `tidemark` needs rights.
            ```
            # tidemark is no command here
            TOKEN=$(tidemark token --user "ann b") && echo "$TOKEN" | tide chat --user ann 2> log   # said
            createuser tidemark; docker compose exec server bash -c 'A=1 exec tidemark backup \\
                /backups/1' < /dev/null
            $ tidemark serve … --dev
            ```
                tidemark verify /backups/1125
            """
        let found = DocumentedCommands(text, named: "d").commands
        #expect(
            found.map { [$0.program] + $0.arguments } == [
                ["tidemark", "compact", "--workspace", "acme"], ["tidemark"], ["tidemark", "token", "--user", "ann b"],
                ["tide", "chat", "--user", "ann"], ["tidemark", "serve", "--dev"],
                ["tidemark", "backup", "/backups/1"], ["tidemark", "verify", "/backups/1125"],
            ])
        #expect(found.map(\.isMention) == [true, true, false, false, false, false, false])
    }

    @Test func `an invalid command is found`() {
        for line in [
            "tidemark devices lists", "tidemark backup a --no-such-option", "tide chat --user ann",
            "tidemark why --workspace w",
        ] {
            let commands = DocumentedCommands("```\n\(line)\n```", named: "d").commands
            #expect(commands.count == 1 && commands.allSatisfy { Self.complaint($0) != nil }, "\(line)")
        }
    }
}
