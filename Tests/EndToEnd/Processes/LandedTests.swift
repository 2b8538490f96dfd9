import Foundation
import Testing
import TidemarkIdentity
import TidemarkModel

@testable import TidemarkCommandLine
@testable import TidemarkTerminal

/// A device and a server of the landed version, from their stored files (`Tests/Fixtures/Landed/make.sh`), in today's
/// programs.
@Suite(.timeLimit(.minutes(5))) struct LandedTests {
    private func unpack(_ name: String, to folder: TemporaryFolder) async throws -> String {
        let fixtures = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Fixtures/Landed")
        let target = "\(folder.path)/\(name)"
        let child = try ChildProcess(
            "/bin/sh", ["-c", "exec gzip -dc '\(fixtures.path)/\(name).gz' > '\(target)'"])
        try #require(await child.ended() == 0)
        return target
    }

    private func inspect(_ device: String) async throws -> (outbox: Int, messages: Int) {
        let outcome = try await Binary.run(["inspect", device, "--json"], of: "tide")
        try #require(outcome.status == 0, "\(outcome.text)")
        struct Report: Decodable {
            struct Entry: Decodable { let number: Int }
            struct Collection: Decodable {
                let name: String
                let rows: Int
            }
            let outbox: [Entry]
            let collections: [Collection]
        }
        let report = try JSONDecoder().decode(Report.self, from: Data(outcome.text.utf8))
        return (report.outbox.count, report.collections.first { $0.name == "messages" }?.rows ?? 0)
    }

    @Test func `a landed device sends its offline writes to a server on the landed file`() async throws {
        let folder = try TemporaryFolder("landed")
        let database = try await unpack("server.sqlite", to: folder)
        let device = try await unpack("device.sqlite", to: folder)
        _ = try await unpack("server.blobs.sqlite", to: folder)
        #expect(try await inspect(device) == (outbox: 3, messages: 10))
        let plan = try await Binary.run(["migrate", "--plan", "--database", database])
        #expect(plan.status == 0 && plan.text.contains("5 clients from before"), "\(plan.text)")

        let server = try await LiveServer.start(database: "sqlite:\(database)")
        func chat(_ user: String, _ file: String) async throws -> Binary.Outcome {
            let token = try server.token(user, in: "dev")
            return try await Binary.run(
                [
                    "chat", "--user", user, "--conversation", "renamed", "--database", file, "--server",
                    "http://\(server.address)", "--token", token,
                ], of: "tide")
        }
        let sent = try await chat("bob", device)
        #expect(sent.status == 0, "\(sent.text)")
        #expect(try await inspect(device).outbox == 0)
        let read = try await chat("ann", "\(folder.path)/ann.sqlite")
        for text in ["message 1", "message 6", "bob: hello", "bob: while away", "bob: still away"] {
            #expect(read.text.contains(text), "\(read.text)")
        }
        #expect(!read.text.contains("message 3"), "it was deleted")
        _ = try await server.process.stop()

        let done = try await Binary.run(["migrate", "--database", database])
        #expect(done.status == 0 && done.text.contains("up to date"), "\(done.text)")
        let later = try await Binary.run(["migrate", "--plan", "--database", database])
        #expect(later.text == "nothing to do")
    }

    @Test func `a missing file is not created`() async throws {
        let folder = try TemporaryFolder("landed")
        for arguments in [["migrate"], ["migrate", "--plan"]] {
            let outcome = try await Binary.run(arguments + ["--database", "\(folder.path)/typo.sqlite"])
            #expect(outcome.status == 1 && outcome.text.contains("does not exist"), "\(outcome.text)")
        }
        #expect(!FileManager.default.fileExists(atPath: "\(folder.path)/typo.sqlite"))
    }
}
