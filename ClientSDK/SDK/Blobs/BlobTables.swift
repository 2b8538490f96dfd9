/// The tables of blobs. What is known of a blob is kept apart from its bytes: the first is looked at often and changes,
/// the second is large and does not.
///
/// They have rowids, since apps observe them: SQLite tells of no change to a table without.
enum BlobTables {
    static let sql = """
        CREATE TABLE IF NOT EXISTS tidemark_blob (
            scope TEXT NOT NULL,
            digest TEXT NOT NULL,
            state TEXT NOT NULL,
            size INTEGER NOT NULL,
            created INTEGER NOT NULL,
            used INTEGER NOT NULL,
            attempts INTEGER NOT NULL DEFAULT 0,
            failure TEXT,
            last_error TEXT,
            PRIMARY KEY (scope, digest)
        );
        CREATE INDEX IF NOT EXISTS tidemark_blob_state ON tidemark_blob (state, used);
        CREATE INDEX IF NOT EXISTS tidemark_blob_digest ON tidemark_blob (digest);
        CREATE TABLE IF NOT EXISTS tidemark_blob_bytes (
            digest TEXT PRIMARY KEY NOT NULL,
            bytes BLOB NOT NULL
        );
        """
}
