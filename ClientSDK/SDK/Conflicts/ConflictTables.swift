/// The tables of conflicts that wait for the app, and of overwritten values known to this device.
///
/// They have rowids, since apps observe them: SQLite reports no change of a table without rowids.
enum ConflictTables {
    static let sql = """
        CREATE TABLE IF NOT EXISTS tidemark_conflict (
            collection TEXT NOT NULL,
            local_id TEXT NOT NULL,
            id TEXT NOT NULL,
            PRIMARY KEY (collection, local_id, id)
        );
        CREATE INDEX IF NOT EXISTS tidemark_conflict_id ON tidemark_conflict (id);
        CREATE TABLE IF NOT EXISTS tidemark_history (
            collection TEXT NOT NULL,
            local_id TEXT NOT NULL,
            seq INTEGER NOT NULL,
            field TEXT NOT NULL,
            scope TEXT NOT NULL,
            rule TEXT NOT NULL,
            old TEXT,
            new TEXT,
            old_author TEXT,
            author TEXT,
            client TEXT,
            app TEXT,
            time INTEGER NOT NULL,
            PRIMARY KEY (collection, local_id, seq, field)
        );
        CREATE INDEX IF NOT EXISTS tidemark_history_time ON tidemark_history (time);
        CREATE INDEX IF NOT EXISTS tidemark_history_scope ON tidemark_history (scope);
        """
}
