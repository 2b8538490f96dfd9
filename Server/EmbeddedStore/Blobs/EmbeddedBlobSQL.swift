import GRDB
import TidemarkStore

/// The tables of the blobs' file, made to be read by a person with `sqlite3`.
enum EmbeddedBlobSchema {
    /// Every step ever released, in order; a released step is never edited.
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1 blobs, their parts, scopes and usage") { db in
            try db.execute(sql: first)
        }
        return migrator
    }

    private static let first = """
        CREATE TABLE sync_blob (
            workspace TEXT NOT NULL,
            digest TEXT NOT NULL,
            octets INTEGER NOT NULL,
            created INTEGER NOT NULL,
            PRIMARY KEY (workspace, digest)
        ) STRICT, WITHOUT ROWID;

        -- start is the place of the part's first byte in the blob.
        CREATE TABLE sync_blob_part (
            workspace TEXT NOT NULL,
            digest TEXT NOT NULL,
            start INTEGER NOT NULL,
            bytes BLOB NOT NULL,
            PRIMARY KEY (workspace, digest, start)
        ) STRICT;

        -- author is who put it there first.
        CREATE TABLE sync_blob_scope (
            workspace TEXT NOT NULL,
            scope TEXT NOT NULL,
            digest TEXT NOT NULL,
            author TEXT NOT NULL,
            created INTEGER NOT NULL,
            PRIMARY KEY (workspace, scope, digest)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE sync_blob_usage (
            workspace TEXT NOT NULL PRIMARY KEY,
            blobs INTEGER NOT NULL,
            octets INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        """
}

/// The statements on those tables. Each begins its search at the workspace.
enum EmbeddedBlobSQL {
    static let size = """
        SELECT b.octets
        FROM sync_blob_scope s
        JOIN sync_blob b ON b.workspace = s.workspace AND b.digest = s.digest
        WHERE s.workspace = ? AND s.scope = ? AND s.digest = ? AND b.created > \(BlobStage.withdrawnBound)
        """

    static let part = """
        SELECT bytes
        FROM sync_blob_part
        WHERE workspace = ? AND digest = ? AND start = ?
        """

    static let usage = """
        SELECT blobs, octets
        FROM sync_blob_usage
        WHERE workspace = ?
        """

    static let insertBlob = """
        INSERT INTO sync_blob (workspace, digest, octets, created)
        VALUES (?, ?, ?, ?)
        """

    /// Renews a blob in any stage.
    static let renew = "UPDATE sync_blob SET created = ?3 WHERE workspace = ?1 AND digest = ?2"

    static let insertPart = """
        INSERT INTO sync_blob_part (workspace, digest, start, bytes)
        VALUES (?, ?, ?, ?)
        """

    static let insertScope = """
        INSERT INTO sync_blob_scope (workspace, scope, digest, author, created)
        VALUES (?, ?, ?, ?, ?)
        ON CONFLICT DO NOTHING
        """

    static let count = """
        INSERT INTO sync_blob_usage (workspace, blobs, octets)
        VALUES (?, 1, ?)
        ON CONFLICT (workspace) DO UPDATE SET blobs = blobs + 1, octets = octets + excluded.octets
        """
}

/// The statements that delete blobs.
enum EmbeddedBlobErasureSQL {
    /// Made on first need: an older version, which does not know it, still opens the file.
    static let index = "CREATE INDEX IF NOT EXISTS sync_blob_scope_digest ON sync_blob_scope (workspace, digest)"

    static let some = """
        SELECT s.digest, b.octets
        FROM sync_blob_scope s
        JOIN sync_blob b ON b.workspace = s.workspace AND b.digest = s.digest
        WHERE s.workspace = ? AND s.scope = ?
        ORDER BY s.digest
        LIMIT ?
        """

    static let usage = """
        SELECT count(*), coalesce(sum(CASE WHEN NOT EXISTS (
            SELECT 1 FROM sync_blob_scope o WHERE o.workspace = ?1 AND o.digest = s.digest AND o.scope <> ?2
        ) THEN b.octets END), 0)
        FROM sync_blob_scope s
        JOIN sync_blob b ON b.workspace = s.workspace AND b.digest = s.digest
        WHERE s.workspace = ?1 AND s.scope = ?2
        """

    static let someOfUser = """
        SELECT s.scope, s.digest, b.octets
        FROM sync_blob_scope s
        JOIN sync_blob b ON b.workspace = s.workspace AND b.digest = s.digest
        WHERE s.workspace = ? AND s.author = ?
        ORDER BY s.scope, s.digest
        LIMIT ?
        """

    static let nextScope = "SELECT scope FROM sync_blob_scope WHERE workspace = ? LIMIT 1"

    static let dropUsage = "DELETE FROM sync_blob_usage WHERE workspace = ?"

    static let dropScope = "DELETE FROM sync_blob_scope WHERE workspace = ?1 AND scope = ?2 AND digest = ?3"

    /// Deletes a blob unless another scope has it.
    static let drop = """
        DELETE FROM sync_blob
        WHERE workspace = ?1 AND digest = ?2
        AND NOT EXISTS (SELECT 1 FROM sync_blob_scope WHERE workspace = ?1 AND digest = ?2)
        """

    static let dropParts = "DELETE FROM sync_blob_part WHERE workspace = ?1 AND digest = ?2"

    static let countOut = "UPDATE sync_blob_usage SET blobs = blobs - 1, octets = octets - ?2 WHERE workspace = ?1"
}
