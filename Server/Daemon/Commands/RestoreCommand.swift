import ArgumentParser
import Foundation
import TidemarkAssembly
import TidemarkCommandLine
import TidemarkOperations

/// `tidemark restore`: a backup, back into an empty database.
struct RestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Bring a backup back into an empty database.",
        discussion: """
            The backup is checked first, file by file. Then it is restored into a database that is empty and that no server \
            uses: an existing one is left as it is, and the message says what to do. What was restored is compared with the \
            manifest, and only then may a server open it.

            A backup of SQLite goes into PostgreSQL too, and the other way round, with everything that is in it: deploy/growing.md.

            Cut short, even by kill -9, it leaves nothing that a server would open; run it again.

            What was written after the backup is not in the database any more. Each workspace begins a new epoch, so that no \
            number is taken for one that was lost. Devices that saw more are told at their next connection: they take over what \
            is there, and send what they had not sent, and what they had been told of since and still have.

            EXAMPLES
              tidemark restore monday --database sqlite:./tidemark-data/tidemark.sqlite
              tidemark restore /backups/1125 --database postgres://tidemark@db/restored
            """)

    @Argument(help: "The folder of the backup.")
    var from: String

    @OptionGroup var place: BackupDatabase

    @Flag(inversion: .prefixedNo, help: "Compare what was restored with the manifest.")
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
                "What was written after that moment is not there. Devices that saw more are told so at their next connection:"
                    + " they take over what is here, and send what they had not sent.")
        }
    }
}
