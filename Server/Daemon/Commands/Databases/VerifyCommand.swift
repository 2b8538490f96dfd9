import ArgumentParser
import Foundation
import TidemarkAssembly
import TidemarkCommandLine
import TidemarkModel
import TidemarkOperations
import TidemarkStore

/// `tidemark verify`: checks a backup or a database.
struct VerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Check a backup, a database in use, or a device's copy.",
        discussion: """
            A backup: its files against the manifest, then every row in them, and that counts and digests match the \
            database that it was made of.

            A database (--database), beside the servers that use it and at one moment: that batches cover the order \
            without a gap, that no record is beyond its end or in a missing batch, that rows belong to a workspace and \
            are found by their scope, that fields and outcomes can be parsed, and that blobs match their hashes; for \
            SQLite also every page. Nothing is written. It reads everything once: run it on a large database at a \
            quiet hour.

            A device (--device): the report that its app made (SyncStore.exportReport()), against a running server: \
            whether its cursor belongs to this database's history, and each scope without writes since, by digests. It \
            needs the server's listener for operators.

            Exit status: 0 sound, 1 it could not be checked, 2 faults were found and printed.

            EXAMPLES
              tidemark verify backups/monday
              tidemark verify --database postgres://tidemark@db/tidemark
              tidemark verify --device report.json --workspace acme \\
                  --admin-token-file admin_tokens
            """)

    @Argument(help: "The folder of a backup.")
    var from: String?

    @Option(
        help: """
            A database instead: sqlite:PATH or postgres://user@host/name. (environment: TIDEMARK_DATABASE, when no backup \
            is named)
            """)
    var database: String?

    @Option(help: ArgumentHelp("A device's report instead.", valueName: "file"))
    var device: String?

    @OptionGroup var programs: PostgresProgramsFolder
    @OptionGroup(title: "FOR A DEVICE'S REPORT") var place: AdminWorkspace
    @OptionGroup(title: "FOR A DEVICE'S REPORT") var admin: AdminOptions

    func validate() throws {
        guard [from, database, device].compactMap(\.self).count < 2 else {
            throw ValidationError("Name a backup, --database or --device, not several.")
        }
    }

    func run() async throws {
        let variable = ProcessInfo.processInfo.environment[Setting.database.rawValue] ?? ""
        if let device { return try await verify(report: device) }
        guard from != nil || database != nil || !variable.isEmpty else {
            throw ValidationError("Name a backup, --database or --device.")
        }
        try await reporting {
            let start = ContinuousClock.now
            if let from {
                let (manifest, report) = try await Verification.backup(
                    from, programs: programs.programs, show: { show($0) })
                try tell(
                    report, "\(from): \(manifest.contents)", since: start)
            } else {
                let location = try DatabaseLocation(database ?? variable)
                let (state, report) = try await Verification.database(location, show: { show($0) })
                let records = report.workspaces.reduce(0) { $0 &+ $1.digest.count }
                try tell(
                    report,
                    "\(location.summary): generation \(state.generation), \(Int64(report.workspaces.count).counted)"
                        + " workspaces, \(records.counted) records", since: start)
            }
        }
    }

    private func verify(report path: String) async throws {
        guard let report = FileManager.default.contents(atPath: path) else {
            throw CommandFailure("\(path): there is no such file, or it cannot be read")
        }
        let answer = try await admin.call("verify", [("workspace", place.workspace)], body: [UInt8](report))
        if !admin.printsJSON(answer) { print((answer.text("text") ?? "").linesWithoutSteering) }
        if !["same", "changed"].contains(answer.text("answer")) { throw ExitCode(2) }
    }

    private func tell(_ report: AuditReport, _ what: String, since start: ContinuousClock.Instant) throws {
        let time = "in \((ContinuousClock.now - start).inSeconds)"
        guard !report.findings.isEmpty else { return show("\(what): sound, checked \(time)") }
        for line in report.findings.lines { show(line) }
        let count = report.findings.counts.values.reduce(0, +)
        show("\(what): \(Int64(count).counted) finding\(count == 1 ? "" : "s"), checked \(time)")
        throw ExitCode(2)
    }
}
