#if PostgreSQL
import Foundation
import Logging
import TidemarkEmbeddedStore
import TidemarkModel
import TidemarkOperations
import TidemarkPostgres
import TidemarkPostgresStore
import TidemarkStore

extension Restore {
    /// Restores a backup into an empty schema, or continues an interrupted restore.
    static func postgres(
        _ folder: BackupFolder, _ uri: String, verifies: Bool, programs: String?,
        _ progress: Occasionally, show: (String) -> Void
    ) async throws {
        let configuration = try PostgresConfiguration.database(uri)
        let manifest = folder.manifest
        let (target, schema, version, application) = try await PostgresRestoring.look(configuration, logger: .quiet)
        switch target {
        case .empty: break
        case .unfinished: show("continues a restore that was interrupted after its rows were written")
        case .restoring(let process):
            throw BackupError(
                .refused,
                "an interrupted restore is still writing into this database: wait until it has ended, or end it"
                    + " there (SELECT pg_terminate_backend(\(process))), and run this again")
        case .inUse(let nodes):
            throw BackupError(
                .refused,
                "the schema \(schema) of this database has tables of Tidemark's"
                    + (nodes > 0 ? ", and servers are connected" : "")
                    + ". They stay unchanged: make another database (CREATE DATABASE), restore into it, and start the"
                    + " servers on that one")
        }
        let tools =
            manifest.store == .sqlite
            ? nil
            : try PostgresPrograms(configuration.environment, in: programs, serverVersion: version, schema: schema)
        try check(folder, progress)
        if target == .empty {
            if let tools {
                try await Backup.aside { try restore(folder, by: tools, called: application) }
            } else {
                try await transfer(folder, to: configuration, called: application, verifies: verifies, progress)
            }
        }
        if target == .empty, verifies {
            // Compared before a new epoch begins, which is not in the manifest.
            let report = try await PostgresSnapshot.with(configuration, isExported: false, logger: .quiet) {
                try await Verification.audit($0) { progress.tell("checked \($0) rows") }
            }
            try compare(manifest, report)
        }
        let summaries = manifest.summaries
        let state = tools == nil ? PostgresLoading.state : manifest.state
        try await PostgresRestoring.finish(configuration, from: state, logger: .quiet) { store in
            try await RestoredOrder.begin(summaries, in: store)
        }
    }

    /// Makes the tables and rows of an archive. Blocks.
    private static func restore(
        _ folder: BackupFolder, by tools: PostgresPrograms, called application: String
    ) throws {
        let archive = folder.file(BackupFolder.dumpName)
        let list = try ArchiveList(try tools.list(archive), schema: tools.schema).file()
        defer { unlink(list) }
        try tools.restore(archive, list: list, application: application)
    }

    /// Carries the rows of a file into an empty schema.
    private static func transfer(
        _ folder: BackupFolder, to configuration: PostgresConfiguration, called application: String, verifies: Bool,
        _ progress: Occasionally
    ) async throws {
        let records = folder.file(BackupFolder.recordsName)
        try await PostgresLoading.run(configuration, application: application) { loading in
            try EmbeddedSnapshot.with(records) {
                try transfer(from: $0, to: loading, verifies: verifies, progress)
            }
        }
    }

    /// Checks that this version reads tables of PostgreSQL of that generation, and returns its own.
    static func checkPostgres(_ state: StoredState) throws -> Int { try PostgresExamination.check(state) }

    /// Carries the rows of an archive into the files of a new embedded store.
    static func transfer(
        _ folder: BackupFolder, to files: (records: String, blobs: String), verifies: Bool, programs: String?,
        _ progress: Occasionally
    ) async throws {
        try await Backup.aside {
            let tools = try PostgresPrograms(in: programs, archiveVersion: folder.manifest.storeVersion)
            let source = RowArchive(tools: tools, path: folder.file(BackupFolder.dumpName))
            let loading = try EmbeddedLoading(records: files.records, blobs: files.blobs)
            try transfer(from: source, to: loading, verifies: verifies, progress)
            try loading.close()
        }
    }
}

/// An archive of `pg_dump`, read by one run of `pg_restore` for each table.
struct RowArchive: RowSource {
    let tools: PostgresPrograms
    let path: String

    func rows(of table: StoredTable, _ each: (TableRow) throws -> Void) throws {
        var rows = ArchiveRows(table)
        try tools.rows(of: table.name, in: path) { try rows.take($0, each) }
        try rows.end()
    }
}
#endif
