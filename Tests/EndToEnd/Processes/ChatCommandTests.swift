import Foundation
import Testing
import Tidemark
import TidemarkChat
import TidemarkModel
import TidemarkNIOTransport

@testable import TidemarkTerminal

/// `tidemark chat` in pipes, against a server process.
@Suite(.timeLimit(.minutes(5))) struct ChatCommandTests {
    /// Runs the program with `input` as its standard input, and returns its output.
    private func chat(
        _ server: LiveServer, _ user: String, with other: String, input: String, _ options: [String] = []
    ) async throws -> Binary.Outcome {
        let file = "\(server.folder.path)/\(UUID().uuidString).input"
        try input.write(toFile: file, atomically: true, encoding: .utf8)
        let command = [
            "exec", try Binary.path(of: "tide"), "chat", "--user", user, "--conversation", other, "--server",
            "http://\(server.address)", "--database", "\(server.folder.path)/\(user).sqlite",
        ]
        let words = (command + options).map { "'\($0)'" }.joined(separator: " ").replacing("'exec'", with: "exec")
        let child = try ChildProcess(
            "/bin/sh", ["-c", "\(words) < '\(file)'"], environment: ["TIDEMARK_TOKEN": try server.token(user)])
        return try await withTimeout(.seconds(60), "the chat did not end") {
            var lines: [String] = []
            for await line in child.lines { lines.append(line) }
            return Binary.Outcome(status: await child.ended(), text: lines.joined(separator: "\n"))
        }
    }

    @Test func `each line of a pipe is a message, and the other side prints it without escape codes`() async throws {
        let server = try await LiveServer.start()
        let sent = try await chat(server, "ann", with: "bob", input: "hello\n/quit is no command here\n\u{1b}[2Jevil")
        #expect(sent.status == 0, "\(sent.text)")
        let read = try await chat(server, "bob", with: "ann", input: "")
        #expect(read.status == 0)
        for text in ["ann: hello", "ann: /quit is no command here", "ann: ␛[2Jevil"] {
            #expect(read.text.contains(text), "\(read.text)")
        }
        #expect(!read.text.contains("\u{1b}"))
        _ = try await server.process.stop()
    }

    @Test func `without a server a message is kept, reported as such, and sent the next time`() async throws {
        let server = try await LiveServer.start()
        _ = try await chat(server, "ann", with: "bob", input: "first\n")
        await server.process.kill()
        let kept = try await chat(server, "ann", with: "bob", input: "second\n", ["--patience", "1s"])
        #expect(kept.status == 1 && kept.text.contains("1 write kept here and not sent yet"), "\(kept.text)")
        #expect(kept.text.contains("Offline:") && kept.text.contains("me: second"))
        #expect(!FileManager.default.fileExists(atPath: "\(server.folder.path)/ann.sqlite-wal"), "all is in the file")
        let restarted = try await server.killedAndStarted()
        let later = try await chat(restarted, "ann", with: "bob", input: "")
        #expect(later.status == 0, "\(later.text)")
        let read = try await chat(restarted, "bob", with: "ann", input: "")
        #expect(read.text.contains("ann: first") && read.text.contains("ann: second"), "\(read.text)")
        _ = try await restarted.process.stop()
    }

    /// Starts Bob's side of a chat with ann, which runs until the returned input is closed.
    private func goingOn(_ server: LiveServer, into pipe: String = "") throws -> (bob: ChildProcess, input: Int32) {
        let path = "\(server.folder.path)/\(UUID().uuidString).typed"
        try #require(mkfifo(path, 0o600) == 0)
        // Opened for both directions, so that neither end waits for the other.
        let input = open(path, O_RDWR | O_CLOEXEC)
        try #require(input >= 0)
        let words = [
            try Binary.path(of: "tide"), "chat", "--user", "bob", "--conversation", "ann", "--server",
            "http://\(server.address)", "--database", "\(server.folder.path)/bob.sqlite",
        ]
        let line = words.map { "'\($0)'" }.joined(separator: " ")
        let bob = try ChildProcess(
            "/bin/sh", ["-c", "\(line) < '\(path)' \(pipe)"], environment: ["TIDEMARK_TOKEN": try server.token("bob")])
        return (bob, input)
    }

    /// The marks of one pause are written together: a later mark as received follows everything that was printed
    /// before.
    @Test func `a message printed into a pipe is received and not read`() async throws {
        let server = try await LiveServer.start()
        _ = try await chat(server, "ann", with: "bob", input: "hello\n")
        let (bob, input) = try goingOn(server)
        for await line in bob.lines where line.contains("ann: hello") { break }
        _ = try await chat(server, "ann", with: "bob", input: "again\n")
        for await line in bob.lines where line.contains("ann: again") { break }
        let store = try await SyncStore.open(
            account: UserID("ann"), file: "\(server.folder.path)/phone.sqlite", schema: try ChatSchema.schema())
        try store.connect(to: "http://\(server.address)", transport: NIOTransport()) { try server.token("ann") }
        let room = ChatID.directConversation(UserID("ann"), UserID("bob"))
        try await withTimeout(.seconds(60), "bob received nothing") {
            for try await messages in Chat(store).messages.observe(room, newest: 9) {
                guard messages.count == 2, messages.allSatisfy({ !$0.deliveredTo.isEmpty }) else { continue }
                #expect(messages.allSatisfy { $0.readBy.isEmpty }, "\(messages.map(\.readBy))")
                break
            }
        }
        close(input)
        #expect(await bob.ended() == 0)
        try await store.close()
        _ = try await server.process.stop()
    }

    @Test func `a chat whose output is no longer read ends`() async throws {
        let server = try await LiveServer.start()
        _ = try await chat(server, "ann", with: "bob", input: "one\n")
        let (bob, input) = try goingOn(server, into: "| head -n 1")
        defer { close(input) }
        for await _ in bob.lines { break }
        for text in ["two\n", "three\n"] { _ = try await chat(server, "ann", with: "bob", input: text) }
        _ = try await withTimeout(.seconds(60), "the chat did not end") { await bob.ended() }
        _ = try await server.process.stop()
    }

    @Test func `a group is opened with its members and found by its name`() async throws {
        let server = try await LiveServer.start()
        let opened = try await chat(server, "ann", with: "shop", input: "all here?\n", ["--with", "bob,cat"])
        #expect(opened.status == 0, "\(opened.text)")
        let answered = try await chat(server, "cat", with: "shop", input: "yes\n")
        #expect(answered.status == 0 && answered.text.contains("ann: all here?"), "\(answered.text)")
        let read = try await chat(server, "ann", with: "shop", input: "")
        #expect(read.text.contains("cat: yes"), "\(read.text)")
        _ = try await server.process.stop()
    }

    @Test func `another user's token is refused with both names, before anything is written`() async throws {
        let server = try await LiveServer.start()
        let file = "\(server.folder.path)/stranger.sqlite"
        let outcome = try await Binary.run(
            [
                "chat", "--user", "ann", "--conversation", "bob", "--server", "http://\(server.address)", "--database",
                file,
                "--token", try server.token("eve"),
            ], of: "tide")
        #expect(outcome.status == 1, "\(outcome.text)")
        #expect(outcome.text.contains("the token is that of eve, not of ann: give --user eve"), "\(outcome.text)")
        #expect(!FileManager.default.fileExists(atPath: file))
        _ = try await server.process.stop()
    }

    @Test func `without a token the command says how to get one`() async throws {
        let outcome = try await Binary.run(["chat", "--user", "ann", "--conversation", "bob"], of: "tide")
        #expect(outcome.status == 1 && outcome.text.contains("--token-file"), "\(outcome.text)")
    }

    @Test func `a damaged file is reported, and unsent messages are sent`() async throws {
        let server = try await LiveServer.start()
        _ = try await chat(server, "ann", with: "bob", input: "first\n")
        await server.process.kill()
        let kept = try await chat(server, "ann", with: "bob", input: "second\n", ["--patience", "1s"])
        #expect(kept.status == 1, "\(kept.text)")
        let file = URL(fileURLWithPath: "\(server.folder.path)/ann.sqlite")
        var bytes = try Data(contentsOf: file)
        bytes.replaceSubrange(0..<100, with: Data(repeating: 0, count: 100))
        try bytes.write(to: file)
        let restarted = try await server.killedAndStarted()
        let told = try await chat(restarted, "ann", with: "bob", input: "")
        #expect(told.status == 0 && told.text.contains("the local database was damaged"), "\(told.text)")
        let read = try await chat(restarted, "bob", with: "ann", input: "")
        #expect(read.text.contains("ann: first") && read.text.contains("ann: second"), "\(read.text)")
        let inspected = try await Binary.run(["inspect", file.path], of: "tide")
        #expect(inspected.status == 0 && inspected.text.contains("damage"), "\(inspected.text)")
        _ = try await restarted.process.stop()
    }

    @Test func `a file that another process has open is refused with its pid, and can be inspected`() async throws {
        let server = try await LiveServer.start()
        let file = "\(server.folder.path)/ann.sqlite"
        let store = try await SyncStore.open(account: UserID("ann"), file: file, schema: try ChatSchema.schema())
        let refused = try await chat(server, "ann", with: "bob", input: "hello\n")
        let number = ProcessInfo.processInfo.processIdentifier
        #expect(refused.status == 1 && refused.text.contains("process \(number) has \(file) open"), "\(refused.text)")
        #expect(try await Binary.run(["inspect", file], of: "tide").status == 0)
        try await store.close()
        let sent = try await chat(server, "ann", with: "bob", input: "hello\n")
        #expect(sent.status == 0, "\(sent.text)")
        _ = try await server.process.stop()
    }
}
