#if PostgreSQL
import Foundation
import Logging
import TidemarkModel
import TidemarkOperations
import TidemarkPostgres
import TidemarkPostgresStore
import TidemarkStore

extension Restore {
    /// Restores the archive into an empty schema, or continues an interrupted restore.
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
        let tools = try PostgresPrograms(
            configuration.environment, in: programs, serverVersion: version, schema: schema)
        try check(folder, progress)
        if target == .empty {
            let archive = folder.file(BackupFolder.dumpName)
            try await Backup.aside {
                let list = try ArchiveList(try tools.list(archive), schema: schema)
                let file = try list.file()
                defer { unlink(file) }
                try tools.restore(archive, list: file, application: application)
            }
        }
        if target == .empty, verifies {
            // Compared before a new epoch begins, which is not in the manifest.
            let report = try await PostgresSnapshot.with(configuration, isExported: false, logger: .quiet) {
                let audit = DatabaseAudit()
                try await $0.rows { row in
                    audit.take(row)
                    if audit.rows % 1_000 == 0 { progress.tell("checked \(audit.rows) rows") }
                }
                return audit.report()
            }
            try compare(manifest, report)
        }
        let state = StoredState(
            generation: manifest.generation, oldest: manifest.oldest, revision: manifest.schemaRevision, version: "")
        let summaries = manifest.summaries
        try await PostgresRestoring.finish(configuration, from: state, logger: .quiet) { store in
            try await RestoredOrder.begin(summaries, in: store)
        }
    }
}
#endif
