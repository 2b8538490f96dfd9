import ArgumentParser
import Foundation
import TidemarkAssembly
import TidemarkCommandLine
import TidemarkModel
import TidemarkOperations
import TidemarkStore

/// `tidemark backup`: a copy of a database at one moment, while servers go on.
struct BackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Make a backup of a database while servers go on using it.",
        discussion: """
            The backup is a folder: the database as it was at one moment, and a manifest that lists its contents. It \
            gets its name only when it is whole; until then it is called <to>.partial. The next backup to the same \
            path removes what an interrupted one left. No write waits for it.

            The finished backup is read again and compared with the database, unless you give --no-verify. A verified \
            backup is recorded where servers find it.

            For PostgreSQL pg_dump makes it, in the server's version or later. For SQLite both files are copied, the \
            records and the blobs; run it on the server's own machine.

            Store the secret file separately: it is not in the backup. deploy/backup.md says how to restore.

            EXAMPLES
              tidemark backup monday --database sqlite:./tidemark-data/tidemark.sqlite
              tidemark backup /backups/1125 --database postgres://tidemark@db/tidemark
            """)

    @Argument(help: "The folder to make. It must not exist yet.")
    var to: String

    @OptionGroup var place: DatabaseOption

    @Flag(inversion: .prefixedNo, help: "Read the backup again and compare it with the database.")
    var verify = true

    @OptionGroup var programs: PostgresProgramsFolder

    func run() async throws {
        try await reporting {
            let start = ContinuousClock.now
            let made = try await Backup.make(
                try place.location(), to: to, verifies: verify, programs: programs.programs,
                program: "tidemark \(ProgramVersion.number)", show: { show($0) })
            let manifest = made.folder.manifest
            let bytes = manifest.files.reduce(0) { $0 + $1.bytes }
            show(
                "\(made.folder.path) is whole: \(manifest.contents), \(bytes.counted) bytes, made in"
                    + " \((ContinuousClock.now - start).inSeconds)"
                    + (made.isVerified ? "; it was verified" : "; it was not verified"))
        }
    }
}

/// The option for the folder of PostgreSQL's programs.
struct PostgresProgramsFolder: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The folder of pg_dump and pg_restore. (default: where packages put them, of the server's version)",
            valueName: "folder"))
    var programs: String?
}

extension BackupManifest {
    /// The counts of its contents, for people.
    var contents: String {
        let all = summaries
        let records = all.reduce(0) { $0 &+ $1.digest.count }
        let blobs = all.reduce(0) { $0 &+ $1.blobs.blobs }
        return "\(Int64(all.count).counted) workspace\(all.count == 1 ? "" : "s"), \(records.counted) records, "
            + "\(Int64(blobs).counted) blobs"
    }
}

extension Int64 {
    /// The number with a comma between thousands.
    var counted: String {
        let digits = String(magnitude)
        let grouped = digits.enumerated().map { index, digit in
            index > 0 && (digits.count - index) % 3 == 0 ? ",\(digit)" : "\(digit)"
        }
        return (self < 0 ? "-" : "") + grouped.joined()
    }
}

extension Duration {
    /// The duration as `12.3 s`.
    var inSeconds: String { formatted(.units(allowed: [.seconds], width: .narrow, fractionalPart: .show(length: 1))) }
}
