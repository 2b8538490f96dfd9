import Foundation
import Testing
import Tidemark
import TidemarkChat
import TidemarkModel

@testable import TidemarkTerminal

/// `tide inspect --live` in pipes: real files, a real server.
@Suite(.timeLimit(.minutes(5))) struct LiveInspectTests {
    private let folder: TemporaryFolder
    private let file: String

    init() throws {
        folder = try TemporaryFolder("tidemark-live")
        file = "\(folder.path)/ann.sqlite"
    }

    /// Ann's device, with a conversation and one unsent message.
    private func device() async throws -> Chat {
        let chat = Chat(
            try await SyncStore.open(account: UserID("ann"), file: file, schema: try ChatSchema.schema()))
        let room = try await chat.conversations.createDirect(with: UserID("bob"))
        try await chat.messages.send("hello", to: room.id)
        return chat
    }

    private func child(_ options: [String], input: String, token: String = "") throws -> ChildProcess {
        let words = ([try Binary.path(of: "tide"), "inspect", file, "--live"] + options).map { "'\($0)'" }
        return try ChildProcess(
            "/bin/sh", ["-c", "exec \(words.joined(separator: " ")) < '\(input)'"],
            environment: ["TIDEMARK_TOKEN": token])
    }

    /// Runs until all typed input is read.
    private func typed(
        _ text: String, _ options: [String] = [], token: String = ""
    ) async throws -> Binary.Outcome {
        let input = "\(folder.path)/\(UUID().uuidString).input"
        try text.write(toFile: input, atomically: true, encoding: .utf8)
        let child = try child(options, input: input, token: token)
        return try await withTimeout(.seconds(60), "the look did not end") {
            var lines: [String] = []
            for await line in child.lines { lines.append(line) }
            return Binary.Outcome(status: await child.ended(), text: lines.joined(separator: "\n"))
        }
    }

    @Test func `a file that an app has open is only read, and the app's process is named`() async throws {
        let chat = try await device()
        let number = ProcessInfo.processInfo.processIdentifier
        let opening = ["--server", "http://127.0.0.1:9", "--schema", try ServerProcess.chatSchema(in: folder.path)]
        for options in [[], opening] {
            let told = try await typed("clear yes\n", options, token: "x")
            #expect(told.status == 0 && !told.text.contains("\u{1b}"), "\(told.text)")
            for text in [
                "Open in  process \(number) (", "only that process knows it", "outbox     2",
                ") has the file open: use the developer's screen",
            ] { #expect(told.text.contains(text), "\(text) in \(told.text)") }
        }
        try await chat.store.close()
        let free = try await typed("sync yes\n")
        #expect(free.text.contains("Open in  no process") && free.text.contains("give --server and --schema"))
    }

    @Test func `opened with a server it shows the connection, and its buttons sync and clear after a confirmation`()
        async throws
    {
        try await device().store.close()
        let server = try await LiveServer.start()
        let options = [
            "--server", "http://\(server.address)", "--schema", try ServerProcess.chatSchema(in: folder.path),
        ]
        let asked = try await typed("sync\nclear\nflush\n", options, token: try server.token("ann"))
        #expect(asked.status == 0 && asked.text.contains("Say 'sync yes'") && asked.text.contains("Say 'clear yes'"))
        #expect(asked.text.contains("No such word: flush") && !asked.text.contains("The cache is cleared"))
        let done = try await typed("sync yes\nclear yes\n", options, token: try server.token("ann"))
        for text in ["Synced: up to date.", "The cache is cleared.", "outbox     empty", "Observations"] {
            #expect(done.text.contains(text), "\(text) in \(done.text)")
        }
        let left = try await Binary.run(["inspect", file], of: "tide")
        #expect(left.text.contains("outbox     empty") && left.text.contains("settled through 2"), "\(left.text)")
        let stranger = try await typed("", options, token: try server.token("eve"))
        #expect(stranger.status == 1 && stranger.text.contains("the token is that of eve, not of ann"))
        _ = try await server.process.stop()
    }

    @Test func `changes are printed each second, and the end of the input ends it`() async throws {
        let chat = try await device()
        let pipe = "\(folder.path)/input"
        #expect(mkfifo(pipe, 0o600) == 0)
        let descriptor = open(pipe, O_RDWR | O_CLOEXEC)
        let child = try child([], input: pipe)
        try await withTimeout(.seconds(60), "it did not print") {
            var lines = child.lines.makeAsyncIterator()
            while let line = await lines.next(), line != "outbox     2" {}
            _ = try await chat.conversations.createDirect(with: UserID("cat"))
            while let line = await lines.next(), line != "outbox     3" {}
            close(descriptor)
            var rest: [String] = []
            while let line = await lines.next() { rest.append(line) }
            #expect(await child.ended() == 0 && !rest.contains("outbox     3"), "\(rest)")
        }
        try await chat.store.close()
    }

    @Test func `a schema other than the file's is refused, and the file stays unchanged`() async throws {
        try await device().store.close()
        let (older, other) = ("\(folder.path)/older.json", "\(folder.path)/other.json")
        let schema = try ChatSchema.schema()
        func document(_ version: Int64) -> String {
            """
            {"tidemark": 1, "name": "chat", "version": \(version), "collections": {"notes": {"scope": {"shared": "all"},
            "fields": {"text": "string"}}}}
            """
        }
        try document(schema.version + 1).write(toFile: older, atomically: true, encoding: .utf8)
        try document(schema.version).write(toFile: other, atomically: true, encoding: .utf8)
        for (path, words) in [(older, "is version \(schema.version + 1)"), (other, "--schema names notes")] {
            let refused = try await typed("", ["--server", "http://127.0.0.1:9", "--schema", path], token: "x")
            #expect(refused.status == 1 && refused.text.contains(words), "\(refused.text)")
        }
        #expect(try await Binary.run(["inspect", file], of: "tide").text.contains("outbox     2"))
        for wrong in [["--server", "http://a"], ["--live", "--server", "http://a"], ["--live", "--json"]] {
            #expect(try await Binary.run(["inspect", file] + wrong, of: "tide").status == 64)
        }
    }
}
