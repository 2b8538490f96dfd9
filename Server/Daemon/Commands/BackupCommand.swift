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
            The backup is a folder: the database as it was at one moment, and a manifest that says what is in it. It has \
            its name only when it is whole; until then it is called <to>.partial, and what a kill leaves of it is removed by \
            the next backup to the same place. Nobody waits for it.

            It is read once more when it is whole, and compared with the database: leave that out with --no-verify. A backup \
            that was verified is written down where servers find it.

            Of PostgreSQL it is made by pg_dump, which must be of the server's version or later. Of SQLite both files are \
            copied, the records and the blobs; run it on the server's own machine.

            Keep the secret file apart: it is not in the backup. deploy/backup.md says how to restore.

            EXAMPLES
              tidemark backup monday --database sqlite:./tidemark-data/tidemark.sqlite
              tidemark backup /backups/1125 --database postgres://tidemark@db/tidemark
            """)

    @Argument(help: "The folder to make. Nothing may be there.")
    var to: String

    @OptionGroup var place: BackupDatabase

    @Flag(inversion: .prefixedNo, help: "Read it once more and compare it with the database.")
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

/// Where the records are.
struct BackupDatabase: ParsableArguments {
    @Option(
        help: """
            Where the records are: sqlite:PATH or postgres://user@host/name. (environment: TIDEMARK_DATABASE; default: \
            \(ServeCommand.defaultDatabase))
            """)
    var database: String?

    func location() throws -> DatabaseLocation {
        try DatabaseLocation(given: database, ProcessInfo.processInfo.environment)
    }
}

/// Where PostgreSQL's programs are.
struct PostgresProgramsFolder: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The folder of pg_dump and pg_restore. (default: where packages put them, of the server's version)",
            valueName: "folder"))
    var programs: String?
}

/// A line at once, also into a pipe.
func show(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

/// Turns errors into what its user can read; 2 says that something is damaged, 1 that something else is in the way.
func reporting(_ body: () async throws -> Void) async throws {
    do {
        try await body()
    } catch let exit as ExitCode {
        throw exit
    } catch let error as BackupError where error.kind == .damaged {
        FileHandle.standardError.write(Data("Error: \(error)\n".utf8))
        throw ExitCode(2)
    } catch {
        throw CommandFailure("\(error)")
    }
}

extension BackupManifest {
    /// What it holds, in words.
    var contents: String {
        let all = summaries
        let records = all.reduce(0) { $0 &+ $1.digest.count }
        let blobs = all.reduce(0) { $0 &+ $1.blobs.blobs }
        return "\(Int64(all.count).counted) workspace\(all.count == 1 ? "" : "s"), \(records.counted) records, "
            + "\(Int64(blobs).counted) blobs"
    }
}

extension Int64 {
    /// With a comma between thousands.
    var counted: String {
        let digits = String(magnitude)
        let grouped = digits.enumerated().map { index, digit in
            index > 0 && (digits.count - index) % 3 == 0 ? ",\(digit)" : "\(digit)"
        }
        return (self < 0 ? "-" : "") + grouped.joined()
    }
}

extension Duration {
    /// `12.3 s`.
    var inSeconds: String { formatted(.units(allowed: [.seconds], width: .narrow, fractionalPart: .show(length: 1))) }
}
