import ArgumentParser
import Foundation
import TidemarkAssembly
import TidemarkCommandLine
import TidemarkOperations

/// `tidemark restore`: restores a backup into an empty database.
struct RestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Restore a backup into an empty database.",
        discussion: """
            The backup is checked first, file by file. Then it is restored into a database that is empty and that no \
            server uses: an existing one stays unchanged, and the message says what to do. The result is compared with \
            the manifest, and only then may a server open it.

            A backup of SQLite restores into PostgreSQL too, and the other way round, with all its contents: \
            deploy/growing.md.

            After an interruption, even by kill -9, there is nothing that a server would open: run it again.

            Writes after the backup are no longer in the database. Each workspace begins a new epoch, so that no new \
            number is taken for a lost one. The server notifies devices that saw later numbers at their next \
            connection: they adopt the restored state, send their unsent writes, and offer again those settled since \
            that they still have.

            EXAMPLES
              tidemark restore monday --database sqlite:./tidemark-data/tidemark.sqlite
              tidemark restore /backups/1125 --database postgres://tidemark@db/restored
            """)

    @Argument(help: "The folder of the backup.")
    var from: String

    @OptionGroup var place: DatabaseOption

    @Flag(inversion: .prefixedNo, help: "Compare the restored database with the manifest.")
    var verify = true

    @OptionGroup var programs: PostgresProgramsFolder

    func run() async throws {
        try await reporting {
            let start = ContinuousClock.now
            let location = try place.location()
            let manifest = try await Restore.run(
                from, into: location, verifies: verify, programs: programs.programs, show: { show($0) })
            let taken = Date(timeIntervalSince1970: Double(manifest.taken) / 1_000).formatted(.iso8601)
            show("\(manifest.contents), as they were at \(taken), are restored into the \(location.summary)")
            show("in \((ContinuousClock.now - start).inSeconds)\(verify ? ", and compared with the manifest" : "").")
            show(
                "Writes after that moment are missing. Devices that saw them are notified at their next connection:"
                    + " they adopt the restored state, and send their unsent writes.")
        }
    }
}
