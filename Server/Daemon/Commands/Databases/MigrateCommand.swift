import ArgumentParser
import Foundation
import TidemarkAssembly
import TidemarkCommandLine

/// `tidemark migrate`: brings a database's tables to this version's.
struct MigrateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Bring a database's tables to this version's, or print the steps.",
        discussion: """
            'tidemark serve' does the same: the steps that it needs before it serves, and the rest while serving. This \
            command runs all steps at once and shows its progress. Servers of this version and the previous one go on \
            working on a PostgreSQL meanwhile. A SQLite file belongs to one process: stop its server first. After an \
            interruption, even by kill -9, the next run continues.

            Older servers keep working until you give --contract, which deletes what only they use. It refuses while \
            one of them is connected. After that only a backup leads back to them.

            EXAMPLES
              tidemark migrate --plan --database postgres://tidemark@db/tidemark
              tidemark migrate --database sqlite:./tidemark-data/tidemark.sqlite
              tidemark migrate --contract --plan
            """)

    @OptionGroup var place: DatabaseOption

    @Flag(help: "Only print the steps: their rows, the servers that they stop, and those that may work afterwards.")
    var plan = false

    @Flag(help: "Also delete what only servers of earlier versions use.")
    var contract = false

    @Option(
        help: ArgumentHelp(
            "The longest time of a step's wait for a table's lock, or of making an index: a number with s, m or h.",
            valueName: "time"))
    var patience = TimeSpan(.seconds(24 * 3_600))

    func run() async throws {
        try await reporting {
            let location = try place.location()
            // A mistyped path would make a new file, or report that there is nothing to do.
            if case .sqlite(let path) = location, !FileManager.default.fileExists(atPath: path) {
                throw CommandFailure("\(path) does not exist: check the path; 'tidemark serve' makes a new file")
            }
            if plan {
                let steps = try await Migration.plan(location, contracts: contract)
                return print(steps.isEmpty ? "nothing to do" : steps.joined(separator: "\n"))
            }
            try await Migration.run(location, contracts: contract, timeout: patience.duration, show: { show($0) })
            show("the tables are up to date")
        }
    }
}
