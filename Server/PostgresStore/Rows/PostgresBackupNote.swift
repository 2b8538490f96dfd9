package import Logging
package import TidemarkModel
package import TidemarkPostgres
package import TidemarkStore

/// The note of the newest verified backup of a database: a row of `sync_backup` for each workspace.
package enum PostgresBackupNote {
    /// nonce holds the bits of an unsigned number; taken and verified are milliseconds.
    static let tables =
        [
            """
            CREATE TABLE sync_backup (
                workspace text COLLATE "C" NOT NULL,
                seq bigint NOT NULL,
                nonce bigint NOT NULL,
                time bigint NOT NULL,
                epoch bigint NOT NULL,
                taken bigint NOT NULL,
                verified bigint NOT NULL
            )
            """
        ] + PostgresSchema.keyed("sync_backup", "workspace")

    /// The rows of one statement.
    private static let rowsPerStep = 1_000

    private static let upsert = PreparedStatement(
        name: "sync_note_backup",
        sql: """
            INSERT INTO sync_backup AS b (workspace, seq, nonce, time, epoch, taken, verified)
            SELECT u.workspace, u.seq, u.nonce, u.time, u.epoch, $6, $7
            FROM unnest($1, $2, $3, $4, $5) AS u (workspace, seq, nonce, time, epoch)
            ON CONFLICT (workspace) DO UPDATE
            SET seq = excluded.seq, nonce = excluded.nonce, time = excluded.time, epoch = excluded.epoch,
                taken = excluded.taken, verified = excluded.verified
            WHERE b.taken <= excluded.taken
            """)

    static let newest = PreparedStatement(
        name: "sync_backup_newest",
        sql: """
            SELECT seq, nonce, time, epoch, taken, verified
            FROM sync_backup
            WHERE workspace = $1
            """)

    static let last = PreparedStatement(name: "sync_backup_last", sql: "SELECT max(taken) FROM sync_backup")

    /// Records a backup's state for each workspace, unless a later backup is recorded.
    ///
    /// - Throws: `StoreError`, also when the tables are of an earlier version.
    package static func write(
        _ heads: [(WorkspaceID, Head)], taken: Milliseconds, verified: Milliseconds,
        _ configuration: PostgresConfiguration, logger: Logger
    ) async throws {
        try await PostgresStore.withConnection(configuration, called: "backup", logger: logger) { connection in
            let isThere = try await connection.run([.simple("SELECT to_regclass('sync_backup') IS NOT NULL")]).first
            guard try isThere?.bool(0, 0) == true else {
                throw StoreError(
                    .unavailable, "the tables are of an earlier version: start a server, or run 'tidemark migrate'")
            }
            for start in stride(from: 0, to: heads.count, by: rowsPerStep) {
                let some = heads[start..<min(start + rowsPerStep, heads.count)]
                var parameters = Parameters()
                parameters.add(some.map(\.0.text))
                parameters.add(some.map(\.1.seq))
                parameters.add(some.map { Int64(bitPattern: $0.1.nonce) })
                parameters.add(some.map(\.1.time))
                parameters.add(some.map(\.1.epoch))
                parameters.add(taken)
                parameters.add(verified)
                _ = try await connection.run([Statement(upsert, parameters)])
            }
        }
    }
}

extension PostgresStore: BackupLog {
    /// See `BackupLog`.
    package func verifiedBackup(of workspace: WorkspaceID) async throws(StoreError) -> VerifiedBackup? {
        try await read([Statement(PostgresBackupNote.newest, workspace)])[0].first {
            VerifiedBackup(head: try $0.head(), taken: try $0.integer(), verified: try $0.integer())
        }
    }

    /// See `BackupLog`.
    package func lastVerifiedBackup() async throws(StoreError) -> Milliseconds? {
        try await read([Statement(PostgresBackupNote.last)])[0].first { try $0.optionalInteger() } ?? nil
    }
}
