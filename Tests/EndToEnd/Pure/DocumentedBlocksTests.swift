import Foundation
import Testing

/// Each command of the operators' documents is run by a test, or marked as not run for its readers.
@Suite struct DocumentedBlocksTests {
    /// The statement at the head of a page with commands.
    private enum Head: String, CaseIterable {
        case run = "*Commands*: a test runs each `tidemark` command of this page that is not marked as not run."
        case read = """
            *Commands*: not run by a test. One reads those of `tidemark` and `tide` by the programs' own parsers.
            """
        /// The head of the one page with a test of its own: `FirstPageTests`.
        case walked = """
            *Commands*: a test runs those of `tidemark` and `tide` that are not marked as not run, in this order, and compares what they print.
            """
    }

    /// The heads of a page, before its first section.
    private static func heads(_ text: String) -> [Head] {
        let start = text.components(separatedBy: "\n## ").first ?? ""
        return Head.allCases.filter { start.contains("\n\($0.rawValue)\n") }
    }

    /// Objections to a page.
    private static func faults(_ name: String, _ text: String) -> [String] {
        let document = DocumentedCommands(text, named: name)
        let heads = heads(text)
        guard document.blocks.contains(where: { $0.language.isEmpty }) || !document.commands.isEmpty else { return [] }
        guard heads.count == 1 else { return ["\(name) does not say at its head whether a test runs its commands"] }
        guard heads == [.run] else { return [] }
        // Commands of other programs have no test: a block of only those needs the mark.
        let blocks = document.blocks.filter { block in
            block.language.isEmpty && !block.isMarked
                && (block.commands.isEmpty || !block.commands.allSatisfy(DocumentedCommandsTests.isWhole))
        }
        return blocks.map { "\(name), line \($0.line): a block that no test runs, and that is not marked" }
    }

    @Test func `each block of commands is run by a test, or says that it is not`() throws {
        let pages = try DocumentedCommandsTests.pages()
        for (name, text) in pages { #expect(Self.faults(name, text) == []) }
        let run = pages.filter { Self.heads($0.text) == [.run] }.map(\.name)
        #expect(Set(run) == Set(DocumentedRunTests.documents))
        #expect(pages.filter { Self.heads($0.text) == [.walked] }.map(\.name) == [FirstPageTests.document])
    }

    @Test func `a block that has neither a run nor a mark is found`() {
        func faults(_ head: Head?, _ rest: String) -> Int {
            Self.faults("d", "# D\n\n\(head?.rawValue ?? "")\n\n\(rest)\n").count
        }
        let (command, others) = ("```\ntidemark verify /backups/1\n```", "```\ncreatedb restored\n```")
        #expect(faults(nil, command) == 1 && faults(nil, others) == 1 && faults(nil, "Say `tidemark verify`.") == 1)
        #expect(faults(nil, "No command.") == 0 && faults(.read, command) == 0 && faults(.read, others) == 0)
        #expect(faults(.run, command) == 0 && faults(.run, others) == 1)
        #expect(faults(.run, "Not run: nobody has one.\n\(others)") == 0)
        #expect(faults(.run, "Not run: that before.\n\n\(others)") == 1, "another paragraph")
        #expect(faults(.run, others.replacing("```\nc", with: "```text\nc")) == 0)
        #expect(faults(.run, "```\ntidemark verify … --no-such\n```") == 1, "what is not whole is not run")
    }

    @Test func `blocks marked as not run are distinguished from the rest`() {
        let text = """
            Not run: no container here.
            ```
            tidemark verify /backups/1
            ```
            Say `tidemark migrate` (not run: a server has it open), or `tidemark verify`.
            """
        #expect(DocumentedCommands(text, named: "d").commands.map(\.isMarked) == [true, true, false])
    }

    @Test func `a proxy that cuts sockets of a dead server says how long a check may take`() throws {
        let script = try String(
            contentsOf: DocumentedCommandsTests.root.appending(path: "Tests/Benchmarks/nodes.sh"), encoding: .utf8)
        let texts = try DocumentedCommandsTests.pages() + [(name: "nodes.sh", text: script)]
        for (name, text) in texts where text.contains("on-marked-down shutdown-sessions") {
            #expect(text.contains("\n    timeout check "), "\(name)")
            #expect(!text.contains("\n    default-server check inter 500ms fall 1"), "\(name)")
        }
        #expect(script.contains("deploy/README.md"), "the benchmark takes the recipe of the documents")
    }
}
