import Foundation
import Testing

@testable import TidemarkAssembly
@testable import TidemarkTerminal

/// The page of the first ten minutes, executed word for word: its commands run in its order, and print the text below
/// them.
@Suite(.timeLimit(.minutes(5))) struct FirstPageTests {
    static let document = "first.md"

    /// A step of the page.
    private enum Step: Equatable {
        case serve(String, prints: [String])
        case run(String, prints: [String])
        /// A step marked as not run.
        case skipped
        case stop
        case startAgain
    }

    private static func page() throws -> String {
        try String(
            contentsOf: DocumentedCommandsTests.root.appending(path: "deploy/\(document)"), encoding: .utf8)
    }

    /// The steps of a page: blocks of commands, each with the output block after it, and the user's actions between
    /// them.
    private static func steps(_ page: String) -> [Step] {
        var steps: [Step] = []
        var (block, language, paragraph): ([String]?, String, String) = (nil, "", "")
        for line in page.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
            if line.hasPrefix("```") {
                if let lines = block {
                    add(lines, language, isMarked: paragraph.contains("Not run"), to: &steps)
                    (block, paragraph) = (nil, "")
                } else {
                    (block, language) = ([], String(line.dropFirst(3)))
                }
            } else if block != nil {
                block?.append(line)
            } else {
                paragraph = line.isEmpty ? "" : paragraph + line
                if line.hasPrefix("Stop the server with Ctrl-C.") { steps.append(.stop) }
                if line.hasPrefix("Start the server again as in step 3") { steps.append(.startAgain) }
            }
        }
        return steps
    }

    private static func add(_ lines: [String], _ language: String, isMarked: Bool, to steps: inout [Step]) {
        let command = lines.joined(separator: "\n")
        switch (language, steps.last) {
        case ("", _) where isMarked: steps.append(.skipped)
        case ("", _) where command.contains(" serve "): steps.append(.serve(command, prints: []))
        case ("", _): steps.append(.run(command, prints: []))
        case ("text", .serve(let command, [])?): steps[steps.count - 1] = .serve(command, prints: lines)
        case ("text", .run(let command, [])?): steps[steps.count - 1] = .run(command, prints: lines)
        default: break
        }
    }

    /// A clone as the commands see it, with the programs that were built with these tests.
    private final class Clone {
        private let folder: TemporaryFolder
        private var server: ChildProcess?
        private(set) var address = "127.0.0.1:0"

        init() throws {
            folder = try TemporaryFolder("tidemark-first")
            let programs = "\(folder.path)/.build/release"
            try FileManager.default.createDirectory(atPath: programs, withIntermediateDirectories: true)
            for name in ["tidemark", "tide"] {
                try FileManager.default.createSymbolicLink(
                    atPath: "\(programs)/\(name)", withDestinationPath: try Binary.path(of: name))
            }
        }

        deinit { server?.signal(SIGKILL) }

        private func child(_ command: String) throws -> ChildProcess {
            try ChildProcess(
                "/bin/sh", ["-c", "cd '\(folder.path)' && \(command)"], environment: ["TIDEMARK_LISTEN": address])
        }

        /// Starts the server, and returns when it has printed as many lines as the page has.
        func serve(_ command: String, until count: Int) async throws -> [String] {
            let child = try child("exec \(command)")
            server = child
            var printed: [String] = []
            for await line in child.lines where !line.contains(" tidemark: ") {
                printed.append(line)
                if let found = ListenAddress(announcedIn: line) { address = "\(found)" }
                if printed.count == count { break }
            }
            return printed
        }

        func stop() async throws {
            let child = try #require(server)
            child.signal(SIGINT)
            #expect(await child.ended() == 0)
        }

        func run(_ command: String) async throws -> [String] {
            let own = command.replacing("/tide chat ", with: "/tide chat --server http://\(address) ")
            let child = try child(own)
            return try await withTimeout(.seconds(60), "\(command) did not end") {
                var lines: [String] = []
                for await line in child.lines { lines.append(line) }
                return lines
            }
        }
    }

    /// The lines with everything replaced that differs from run to run.
    private static func comparable(_ lines: [String], _ address: String) -> [String] {
        lines.map { line in
            line.replacing(address, with: "127.0.0.1:8080")
                .replacing(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/, with: "ID")
                .replacing(/\d{4}-\d\d-\d\d \d\d:\d\d/, with: "DATE").replacing(/\d\d:\d\d:\d\d/, with: "TIME")
                .replacing(/\d+ s old/, with: "AGE")
        }.sorted()
    }

    @Test func `the commands of the first ten minutes print what the page shows`() async throws {
        let clone = try Clone()
        let steps = Self.steps(try Self.page())
        var served = ""
        for step in steps {
            let (command, expected, printed): (String, [String], [String])
            switch step {
            case .skipped: continue
            case .serve(let line, let lines):
                served = line
                (command, expected, printed) = (line, lines, try await clone.serve(line, until: lines.count))
            case .run(let line, let lines): (command, expected, printed) = (line, lines, try await clone.run(line))
            case .stop:
                try await clone.stop()
                continue
            case .startAgain:
                _ = try await clone.serve(served, until: 1)
                continue
            }
            let (wanted, found) = (
                Self.comparable(expected, clone.address), Self.comparable(printed, clone.address)
            )
            #expect(wanted == found, "\(command)")
        }
        #expect(steps.count >= 9 && steps.contains(.stop) && steps.contains(.startAgain))
        try await clone.stop()
    }

    @Test func `the programs print what the page says about failing steps`() async throws {
        let clone = try Clone()
        let page = try Self.page()
        _ = try await clone.serve(".build/release/tidemark serve --dev", until: 1)
        let elsewhere = try await clone.run(
            "mkdir other && cd other && ../.build/release/tide chat --dev --user ann --conversation bob < /dev/null")
        let again = try await clone.run(".build/release/tidemark serve --dev")
        let taken = try await clone.run(".build/release/tidemark serve --dev --database sqlite:other.sqlite")
        for (printed, sentence) in [
            (elsewhere, "dev_secret does not exist: start 'tidemark serve --dev' in this folder, "),
            (again, "another server uses ./tidemark-data/tidemark.sqlite: stop it, or give this one its own file"),
            (taken, "another program listens on ADDRESS: stop it, or choose another address by --listen"),
        ] {
            let found = printed.map { $0.replacing(clone.address, with: "ADDRESS") }
            #expect(found.contains { $0.contains(sentence) }, "\(sentence)")
            #expect(page.contains(sentence.replacing("ADDRESS", with: "127.0.0.1:8080")), "\(sentence)")
        }
        try await clone.stop()
    }

    @Test func `a step is a block with the output below it, unless it is marked`() {
        let page = """
            Do it:
            ```
            a serve --dev
            ```
            ```text
            one
            ```
            Not run: a person does it.
            ```
            b
            ```
            ```text
            nothing
            ```
            Stop the server with Ctrl-C.
            ```
            c | d
            ```
            ```
            e
            ```
            ```text
            two
            ```
            """
        #expect(
            Self.steps(page) == [
                .serve("a serve --dev", prints: ["one"]), .skipped, .stop, .run("c | d", prints: []),
                .run("e", prints: ["two"]),
            ])
    }
}
