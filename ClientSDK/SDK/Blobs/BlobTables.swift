/// The tables of blobs. The state of a blob is stored apart from its bytes: it is read often and changes, while the
/// bytes are large and do not.
///
/// They have rowids, because apps observe them: SQLite reports no changes of a table without.
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
