import TidemarkPostgres
import TidemarkStore

/// The statements on blobs. Each begins its search at the workspace.
enum BlobSQL {
    static let size = PreparedStatement(
        name: "sync_blob_size",
        sql: """
            SELECT b.octets
            FROM sync_blob_scope s
            JOIN sync_blob b ON b.workspace = $1 AND b.digest = s.digest
            WHERE s.workspace = $1 AND s.scope = $2 AND s.digest = $3 AND b.created > \(BlobStage.withdrawnBound)
            """)

    static let part = PreparedStatement(
        name: "sync_blob_part",
        sql: """
            SELECT bytes
            FROM sync_blob_part
            WHERE workspace = $1 AND digest = $2 AND start = $3
            """)

    static let usage = PreparedStatement(
        name: "sync_blob_usage",
        sql: """
            SELECT blobs, octets
            FROM sync_blob_usage
            WHERE workspace = $1
            """)

    /// True when this transaction has to write the parts. Waits for another one that is about to, or that deletes the
    /// blob; until the end of this one none does either. The blob is needed from now on, whatever its stage was.
    static let insertBlob = PreparedStatement(
        name: "sync_put_blob",
        sql: """
            INSERT INTO sync_blob AS b (workspace, digest, octets, created)
            VALUES ($1, $2, $3, $4)
            ON CONFLICT (workspace, digest) DO UPDATE
            SET created = excluded.created
            RETURNING xmax = 0
            """)

    /// Locks the workspace: a transaction that marks the scope as erased waits for the end of this one, or this one
    /// sees the mark.
    static let shareWorkspace = PreparedStatement(
        name: "sync_share_workspace",
        sql: """
            SELECT workspace
            FROM sync_workspace
            WHERE workspace = $1
            FOR KEY SHARE
            """)

    static let insertPart = PreparedStatement(
        name: "sync_insert_blob_part",
        sql: """
            INSERT INTO sync_blob_part (workspace, digest, start, bytes)
            VALUES ($1, $2, $3, $4)
            """)

    /// Returns a row if the scope did not have the blob.
    static let insertScope = PreparedStatement(
        name: "sync_insert_blob_scope",
        sql: """
            INSERT INTO sync_blob_scope (workspace, scope, digest, author, created)
            VALUES ($1, $2, $3, $4, $5)
            ON CONFLICT DO NOTHING
            RETURNING created
            """)

    /// Runs last before COMMIT, since it locks the row that counts all puts of a workspace. Returns a row if there is
    /// room beside the puts that others have committed meanwhile; the first blob is compared with the quota before.
    static let count = PreparedStatement(
        name: "sync_count_blob",
        sql: """
            INSERT INTO sync_blob_usage AS u (workspace, blobs, octets)
            VALUES ($1, 1, $2)
            ON CONFLICT (workspace) DO UPDATE SET blobs = u.blobs + 1, octets = u.octets + excluded.octets
            WHERE u.octets <= $3
            RETURNING octets
            """)

    /// The tables of blobs. Digests and parts are found by their keys only. Bytes are stored as they are: pictures do
    /// not shrink.
    static let tables =
        [
            """
            CREATE TABLE sync_blob (
                workspace text COLLATE "C" NOT NULL,
                digest text COLLATE "C" NOT NULL,
                octets bigint NOT NULL,
                created bigint NOT NULL
            )
            """,
            // start is the offset of the part's first byte in the blob.
            """
            CREATE TABLE sync_blob_part (
                workspace text COLLATE "C" NOT NULL,
                digest text COLLATE "C" NOT NULL,
                start bigint NOT NULL,
                bytes bytea NOT NULL
            )
            """,
            "ALTER TABLE sync_blob_part ALTER COLUMN bytes SET STORAGE EXTERNAL",
            // author is the user who put it there first.
            """
            CREATE TABLE sync_blob_scope (
                workspace text COLLATE "C" NOT NULL,
                scope text COLLATE "C" NOT NULL,
                digest text COLLATE "C" NOT NULL,
                author text COLLATE "C" NOT NULL,
                created bigint NOT NULL
            )
            """,
            """
            CREATE TABLE sync_blob_usage (
                workspace text COLLATE "C" NOT NULL,
                blobs bigint NOT NULL,
                octets bigint NOT NULL
            )
            """,
        ]
        + [
            ("sync_blob", "workspace, digest"), ("sync_blob_part", "workspace, digest, start"),
            ("sync_blob_scope", "workspace, scope, digest"), ("sync_blob_usage", "workspace"),
        ].flatMap(PostgresSchema.keyed)
        + [
            // Finds due blobs. Partial, so that no search by digest can use it instead of the key's index.
            "CREATE INDEX sync_blob_stage ON sync_blob (workspace, created) WHERE created <> 0"
        ]
}
