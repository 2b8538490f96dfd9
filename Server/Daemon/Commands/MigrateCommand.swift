import ArgumentParser
import Foundation
import TidemarkAssembly
import TidemarkCommandLine

/// `tidemark migrate`: the tables of a database, brought to this version's.
struct MigrateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Bring a database's tables to this version's, or say what that would be.",
        discussion: """
            'tidemark serve' does the same: what it needs before it serves, and the rest beside serving. This command does \
            all of it at once and says how far it is. Servers of this version and of the one before go on working on a \
            PostgreSQL meanwhile; an SQLite file belongs to one process, so stop its server first. Cut short, even by kill -9, \
            the next one goes on where it was.

            Older servers keep working until you say --contract, which takes away what only they use. It refuses while one \
            of them is connected, and there is no way back to them but a backup.

            EXAMPLES
              tidemark migrate --plan --database postgres://tidemark@db/tidemark
              tidemark migrate --database sqlite:./tidemark-data/tidemark.sqlite
              tidemark migrate --contract --plan
            """)

    @Option(
        help: """
            Where the records are: sqlite:PATH or postgres://user@host/name. (environment: TIDEMARK_DATABASE; default: \
            \(ServeCommand.defaultDatabase))
            """)
    var database: String?

    @Flag(help: "Only say what would be done, how many rows that concerns, whom it stops, and who may work afterwards.")
    var plan = false

    @Flag(help: "Also take away what only servers of earlier versions use.")
    var contract = false

    @Option(
        help: ArgumentHelp(
            "How long one step may wait for the lock of a table, or make an index: a number with s, m or h.",
            valueName: "time"))
    var patience = TimeSpan(.seconds(24 * 3_600))

    func run() async throws {
        do {
            let location = try DatabaseLocation(given: database, ProcessInfo.processInfo.environment)
            // Nobody's file: a typing error would make one, or be told that there is nothing to do.
            if case .sqlite(let path) = location, !FileManager.default.fileExists(atPath: path) {
                throw CommandFailure("\(path) is not there; 'tidemark serve' makes a new one")
            }
            if plan {
                let steps = try await Migration.plan(location, contracts: contract)
                return print(steps.isEmpty ? "nothing to do" : steps.joined(separator: "\n"))
            }
            try await Migration.run(
                location, contracts: contract, timeout: patience.duration, show: { Self.show($0) })
            Self.show("the tables are up to date")
        } catch let failure as CommandFailure {
            throw failure
        } catch {
            throw CommandFailure("\(error)")
        }
    }

    /// At once, also into a pipe.
    private static func show(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }
}
