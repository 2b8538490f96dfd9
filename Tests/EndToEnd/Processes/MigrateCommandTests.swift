import Foundation
import Testing

@testable import TidemarkTerminal

/// `tidemark migrate` on the file of a server. Tables of another generation are in the stores' own tests.
@Suite(.timeLimit(.minutes(5))) struct MigrateCommandTests {
    @Test func `a file that a server has made is up to date`() async throws {
        let folder = try TemporaryFolder("migrate")
        let database = "\(folder.path)/server.sqlite"
        let server = try await LiveServer.start(database: "sqlite:\(database)")
        _ = try await server.process.stop()
        let plan = try await Binary.run(["migrate", "--plan", "--database", database])
        #expect(plan.status == 0 && plan.text == "nothing to do", "\(plan.text)")
        let done = try await Binary.run(["migrate", "--database", database])
        #expect(done.status == 0 && done.text.contains("up to date"), "\(done.text)")
    }

    @Test func `a missing file is not created`() async throws {
        let folder = try TemporaryFolder("migrate")
        for arguments in [["migrate"], ["migrate", "--plan"]] {
            let outcome = try await Binary.run(arguments + ["--database", "\(folder.path)/typo.sqlite"])
            #expect(outcome.status == 1 && outcome.text.contains("does not exist"), "\(outcome.text)")
        }
        #expect(!FileManager.default.fileExists(atPath: "\(folder.path)/typo.sqlite"))
    }
}
