import Foundation
import TidemarkOperations

/// `pg_dump` and `pg_restore` of the installed version that fits a server.
struct PostgresPrograms: Sendable {
    /// The variables that tell libpq the database.
    private let environment: [String: String]
    private let folder: String
    let schema: String

    /// The folders that packages use, beside PATH. The `*` is the version.
    private static let folders = [
        "/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/opt/homebrew/opt/postgresql@*/bin",
        "/usr/local/opt/postgresql@*/bin",
    ]

    /// Finds programs of the server's own major version, or else of the next later one.
    ///
    /// - Parameters:
    ///   - environment: the variables that tell libpq the database.
    ///   - named: the only folder to search, if the operator names one.
    ///   - serverVersion: as `server_version_num`.
    /// - Throws: `BackupError` with the versions that were found and the one that is needed.
    init(_ environment: [String: String], in named: String?, serverVersion: Int, schema: String) throws {
        try self.init(environment, in: named, needed: serverVersion / 10_000, schema: schema)
    }

    /// Finds programs that read an archive, without a database.
    ///
    /// - Parameter archiveVersion: the version of the archived server, such as `15.4`.
    init(in named: String?, archiveVersion: String) throws {
        try self.init([:], in: named, needed: Int(archiveVersion.prefix { $0.isNumber }) ?? 0, schema: "")
    }

    private init(_ environment: [String: String], in named: String?, needed: Int, schema: String) throws {
        self.environment = environment
        self.schema = schema
        let found = try Self.candidates(named).compactMap { folder in
            try Self.version(of: "\(folder)/pg_dump").map { (folder: folder, major: $0) }
        }
        guard let best = found.filter({ $0.major >= needed }).min(by: { $0.major < $1.major }) else {
            let searched = named ?? "PATH and \(Self.folders.joined(separator: ", "))"
            throw BackupError(
                .refused,
                found.isEmpty
                    ? "pg_dump and pg_restore were not found in \(searched): install the client programs of PostgreSQL"
                        + " \(needed) (Debian: postgresql-client-\(needed)), or name their folder with --programs"
                    : "the database is of PostgreSQL \(needed), and pg_dump is of version"
                        + " \(found.map { "\($0.major) in \($0.folder)" }.joined(separator: ", ")): install the client"
                        + " programs of PostgreSQL \(needed), or name their folder with --programs")
        }
        guard FileManager.default.isExecutableFile(atPath: "\(best.folder)/pg_restore") else {
            throw BackupError(.refused, "\(best.folder) has pg_dump, and not pg_restore: install both")
        }
        folder = best.folder
    }

    private static func candidates(_ named: String?) -> [String] {
        let isThere = { (folder: String) in FileManager.default.isExecutableFile(atPath: "\(folder)/pg_dump") }
        if let named { return [BackupFolder.absolute(named)].filter(isThere) }
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        var folders = path.split(separator: ":").map(String.init).filter { $0.hasPrefix("/") }
        for pattern in Self.folders {
            let parts = pattern.split(separator: "*", maxSplits: 1).map(String.init)
            let parent = URL(fileURLWithPath: parts[0] + "x").deletingLastPathComponent().path
            let prefix = String(parts[0].dropFirst(parent.count + 1))
            // A folder that does not exist or cannot be read contributes no programs.
            let names = (try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? []
            folders += names.filter { $0.hasPrefix(prefix) }.map { "\(parent)/\($0)\(parts[1])" }
        }
        return folders.filter(isThere)
    }

    /// The major version that a program prints; `nil` when it prints none.
    private static func version(of program: String) throws -> Int? {
        var text: [UInt8] = []
        let outcome = try ChildProgram.run(program, ["--version"]) { text += $0.prefix(1_024) }
        guard outcome.status == 0 else { return nil }
        return Self.major(String(decoding: text, as: UTF8.self))
    }

    /// Returns 15 for `pg_dump (PostgreSQL) 15.20 (Debian 15.20-0+deb12u1)`.
    static func major(_ text: String) -> Int? {
        let words = text.split(separator: " ")
        guard let index = words.firstIndex(of: "(PostgreSQL)"), index + 1 < words.count else { return nil }
        return Int(words[index + 1].prefix { $0.isNumber })
    }

    /// Writes an archive of the schema as it is in a snapshot. Blocks.
    func dump(to path: String, snapshot: String) throws {
        let name = "\"" + schema.replacing("\"", with: "\"\"") + "\""
        // Readable by its owner only, whatever the umask is.
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw BackupError(.failed, "\(path) cannot be made: \(String(cString: strerror(errno)))")
        }
        close(descriptor)
        // Compression shrinks bodies and names; blobs mostly do not shrink. BACKUP.md has the figures.
        try run(
            "pg_dump",
            [
                "--format=custom", "--compress=1", "--no-password", "--lock-wait-timeout=60000", "--schema=\(name)",
                "--snapshot=\(snapshot)", "--file=\(path)",
            ])
    }

    /// Reads the rows of one table in an archive. Blocks.
    func rows(of table: String, in path: String, _ each: (UnsafeRawBufferPointer) throws -> Void) throws {
        try run("pg_restore", ["--data-only", "--table=\(table)", "--file=-", path], output: each)
    }

    /// Lists the contents of an archive, one line for each object. Blocks.
    func list(_ path: String) throws -> [String] {
        var text: [UInt8] = []
        try run("pg_restore", ["--list", path]) { text += $0 }
        return String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    /// Makes the tables of an archive and their rows, in one transaction. Blocks.
    ///
    /// - Parameters:
    ///   - list: a file with the wanted lines of ``list(_:)``.
    ///   - application: the connection's name.
    func restore(_ path: String, list: String, application: String) throws {
        let database = (environment["PGDATABASE"] ?? environment["PGUSER"] ?? "")
            .replacing("\\", with: "\\\\").replacing("'", with: "\\'")
        try run(
            "pg_restore",
            [
                "--single-transaction", "--exit-on-error", "--no-owner", "--no-privileges", "--no-password",
                "--use-list=\(list)", "--dbname=dbname='\(database)'", path,
            ], ["PGAPPNAME": application])
    }

    private func run(
        _ program: String, _ arguments: [String], _ more: [String: String] = [:],
        output: (UnsafeRawBufferPointer) throws -> Void = { _ in }
    ) throws {
        let outcome = try ChildProgram.run(
            "\(folder)/\(program)", arguments, environment: environment.merging(more) { $1 }, output: output)
        guard outcome.status == 0 else {
            throw BackupError(
                .failed,
                "\(folder)/\(program) ended with status \(outcome.status): "
                    + (outcome.errors.isEmpty ? "it printed no error" : outcome.errors))
        }
    }
}
