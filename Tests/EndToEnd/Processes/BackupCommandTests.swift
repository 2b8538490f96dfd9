import Foundation
import Testing
import TidemarkModel
import TidemarkWire

@testable import TidemarkTerminal

/// `tidemark backup`, `restore` and `verify` as an operator runs them, beside a server and with kills.
@Suite(.timeLimit(.minutes(5))) struct BackupCommandTests {
    /// Starts a server with a conversation of ten messages.
    private func served(_ database: String?) async throws -> (server: LiveServer, conversation: LocalID) {
        let server = try await LiveServer.start(database: database)
        let conversation = LoadTarget.newClient()
        let (socket, _) = try await RawClient(server, user: "ann").connect(1, isNew: true)
        let entries = [Transaction.opening(conversation, ["ann"])] + (1...10).map { .saying($0, in: conversation) }
        try await socket.push(Push(first: 1, ackedThrough: 0, entries: entries.map { Push.Entry($0) }))
        _ = try await socket.settled(through: 11)
        return (server, conversation)
    }

    private func tidemark(_ words: String...) async throws -> Binary.Outcome { try await Binary.run(words) }

    @Test func `a backup made beside a server is restored, and a server continues from it`() async throws {
        let (server, conversation) = try await served(nil)
        let (backup, new) = ("\(server.folder.path)/backup", "sqlite:\(server.folder.path)/new/server.sqlite")
        let made = try await tidemark("backup", backup, "--database", server.database)
        #expect(made.status == 0 && made.text.contains("is whole: 1 workspace, 11 records, 0 blobs"), "\(made.text)")
        #expect(made.text.contains("it was verified"))
        for words in [[backup], ["--database", server.database]] {
            let verified = try await Binary.run(["verify"] + words)
            #expect(verified.status == 0 && verified.text.contains("sound"), "\(verified.text)")
        }
        let used = try await tidemark("restore", backup, "--database", server.database)
        #expect(used.status == 1 && used.text.contains("another server uses"), "\(used.text)")
        #expect(try await server.process.stop() == 0)
        let full = try await tidemark("restore", backup, "--database", server.database)
        #expect(full.status == 1 && full.text.contains("exists already and stays unchanged"), "\(full.text)")
        let restored = try await tidemark("restore", backup, "--database", new)
        #expect(restored.status == 0 && restored.text.contains("compared with the manifest"), "\(restored.text)")
        var settings = server.settings
        settings.database = new
        let process = try await ServerProcess.start(settings)
        #expect(try await process.stop() == 0)
        let truth = try await ServerTruth.read([conversation], in: LiveServer.workspace, database: new)
        #expect(truth.messages.map(\.order).sorted() == Array(1...10))
    }

    @Test func `damage is reported with exit status 2, and a path that is no backup with 1`() async throws {
        let (server, _) = try await served(nil)
        let backup = "\(server.folder.path)/backup"
        #expect(try await tidemark("backup", backup, "--database", server.database, "--no-verify").status == 0)
        let file = URL(fileURLWithPath: "\(backup)/tidemark.sqlite")
        var bytes = try Data(contentsOf: file)
        bytes[bytes.count / 2] ^= 1
        try bytes.write(to: file)
        let damaged = try await tidemark("verify", backup)
        #expect(damaged.status == 2 && damaged.text.contains("file: tidemark.sqlite was changed"), "\(damaged.text)")
        let refused = try await tidemark("restore", backup, "--database", "sqlite:\(server.folder.path)/new.sqlite")
        #expect(refused.status == 2 && refused.text.contains("is damaged, and nothing was restored"), "\(refused.text)")
        let none = try await tidemark("verify", server.folder.path)
        #expect(none.status == 1 && none.text.contains("is no backup: it has no manifest.json"), "\(none.text)")
        let nothing = try await Binary.run(["verify"])
        #expect(
            nothing.status == 64 && nothing.text.contains("Name a backup, --database or --device."), "\(nothing.text)")
        #expect(try await server.process.stop() == 0)
    }

    @Test func `a killed backup is not accepted as one, and the next one to its path begins anew`() async throws {
        let (server, _) = try await served(nil)
        let folder = server.folder.path
        // Opening a pipe waits for ever: a backup that has begun, and does not end by itself.
        for name in ["stuck.sqlite", "stuck.blobs.sqlite"] { #expect(mkfifo("\(folder)/\(name)", 0o600) == 0) }
        let child = try ChildProcess(
            try Binary.path, ["backup", "\(folder)/backup", "--database", "sqlite:\(folder)/stuck.sqlite"])
        try await eventually("the backup did not begin") {
            FileManager.default.fileExists(atPath: "\(folder)/backup.partial")
        }
        let busy = try await tidemark("backup", "\(folder)/backup", "--database", server.database)
        child.signal(SIGKILL)
        #expect(await child.ended() == 128 + SIGKILL)
        #expect(busy.status == 1 && busy.text.contains("another backup is writing to"), "\(busy.text)")
        #expect(!FileManager.default.fileExists(atPath: "\(folder)/backup"))
        let refused = try await tidemark("verify", "\(folder)/backup.partial")
        #expect(refused.status == 1 && refused.text.contains("is a backup that was cut short"), "\(refused.text)")
        let again = try await tidemark("backup", "\(folder)/backup", "--database", server.database)
        #expect(again.status == 0 && again.text.contains("remains of an interrupted backup"), "\(again.text)")
        #expect(try await server.process.stop() == 0)
    }

    @Test func `no server opens the remains of a killed restore, and the next restore begins anew`() async throws {
        let (server, _) = try await served(nil)
        let folder = server.folder.path
        #expect(try await tidemark("backup", "\(folder)/backup", "--database", server.database).status == 0)
        #expect(try await server.process.stop() == 0)
        try FileManager.default.createDirectory(atPath: "\(folder)/new", withIntermediateDirectories: false)
        // A kill between the two renames leaves this.
        try Data([1]).write(to: URL(fileURLWithPath: "\(folder)/new/a.sqlite.restoring"))
        try Data([1]).write(to: URL(fileURLWithPath: "\(folder)/new/a.blobs.sqlite"))
        let new = "sqlite:\(folder)/new/a.sqlite"
        let serving = try await tidemark("serve", "--dev", "--listen", "127.0.0.1:0", "--database", new)
        #expect(serving.status == 1 && serving.text.contains("a restore into \(folder)/new/a.sqlite is running"))
        let again = try await tidemark("restore", "\(folder)/backup", "--database", new)
        #expect(again.status == 0 && again.text.contains("remains of an interrupted restore"), "\(again.text)")
        let left = try FileManager.default.contentsOfDirectory(atPath: "\(folder)/new").sorted()
        #expect(left == ["a.blobs.sqlite", "a.sqlite", "a.sqlite.lock"])
        #expect(try await tidemark("verify", "--database", new).status == 0)
    }
}
