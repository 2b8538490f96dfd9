import GRDB

/// Tidemark's own tables. Their names start with `tidemark_`, which no collection may.
enum LocalTables {
    /// The format of these tables, that of the first release.
    static let first: Int64 = 11

    /// The statements that lead from each format to the next, in order; a released one is never edited. One is added
    /// when the shape of the tables changes, or when an SDK of the format before would misread the content.
    static let steps: [String] = []

    static var format: Int64 { first + Int64(steps.count) }

    /// Makes the tables of a new database, or brings those of an earlier format up to date.
    ///
    /// - Parameter steps: others than this version's, for tests.
    /// - Throws: `StoreError` with `formatTooNew` or `formatTooOld`.
    static func bring(_ db: Database, steps: [String] = steps) throws {
        let isNew = try !db.tableExists("tidemark_meta")
        // A file that was repaired may have lost some of its tables, or the row with its format.
        for sql in [sql, ConflictTables.sql, BlobTables.sql, indexes] { try db.execute(sql: sql) }
        let last = first + Int64(steps.count)
        let known = try Meta.format.integer(db) ?? (isNew ? first : last)
        guard known <= last else {
            throw StoreError(.formatTooNew, "the database has format \(known), this SDK knows \(last)")
        }
        guard known >= first else {
            throw StoreError(
                .formatTooOld,
                "a version before the first release has made the database (its format is \(known), that of the first release"
                    + " \(first)): delete the file, and its records are fetched again")
        }
        for step in steps.dropFirst(Int(known - first)) { try db.execute(sql: step) }
        try Meta.format.set(last, db)
    }

    static let sql = """
        CREATE TABLE IF NOT EXISTS tidemark_meta (
            key TEXT PRIMARY KEY NOT NULL,
            value
        ) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS tidemark_field (
            collection TEXT NOT NULL,
            field TEXT NOT NULL,
            type TEXT NOT NULL,
            PRIMARY KEY (collection, field)
        ) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS tidemark_collection (
            collection TEXT PRIMARY KEY NOT NULL,
            stored TEXT NOT NULL
        ) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS tidemark_indexed (
            collection TEXT PRIMARY KEY NOT NULL,
            through INTEGER NOT NULL
        ) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS tidemark_outbox (
            n INTEGER PRIMARY KEY,
            id TEXT UNIQUE NOT NULL,
            written INTEGER NOT NULL,
            body TEXT NOT NULL,
            created INTEGER NOT NULL,
            state TEXT NOT NULL,
            attempts INTEGER NOT NULL DEFAULT 0,
            attempted INTEGER,
            last_error TEXT,
            seq INTEGER,
            settled INTEGER,
            scopes TEXT
        );
        CREATE TABLE IF NOT EXISTS tidemark_outbox_record (
            collection TEXT NOT NULL,
            local_id TEXT NOT NULL,
            n INTEGER NOT NULL,
            scope TEXT NOT NULL,
            withheld INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY (collection, local_id, n)
        ) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS tidemark_base (
            collection TEXT NOT NULL,
            local_id TEXT NOT NULL,
            scope TEXT NOT NULL,
            seq INTEGER NOT NULL,
            server_id INTEGER,
            author TEXT NOT NULL,
            created_time INTEGER NOT NULL,
            server_time INTEGER,
            existence TEXT NOT NULL,
            fields TEXT NOT NULL,
            PRIMARY KEY (collection, local_id)
        ) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS tidemark_receipt (
            id TEXT PRIMARY KEY NOT NULL,
            state TEXT NOT NULL,
            seq INTEGER,
            time INTEGER,
            code TEXT,
            message TEXT
        );
        CREATE TABLE IF NOT EXISTS tidemark_parked (
            id TEXT PRIMARY KEY NOT NULL,
            body TEXT NOT NULL,
            code TEXT NOT NULL,
            message TEXT NOT NULL,
            parked INTEGER NOT NULL,
            awaits INTEGER
        );
        CREATE TABLE IF NOT EXISTS tidemark_rescue (
            id INTEGER PRIMARY KEY,
            collection TEXT NOT NULL,
            local_id TEXT NOT NULL,
            scope TEXT NOT NULL,
            number INTEGER NOT NULL,
            author TEXT NOT NULL,
            updated INTEGER,
            body TEXT NOT NULL,
            rescued INTEGER NOT NULL
        );
        CREATE TABLE IF NOT EXISTS tidemark_scope (
            scope TEXT PRIMARY KEY NOT NULL,
            since INTEGER NOT NULL,
            role TEXT NOT NULL,
            is_complete INTEGER NOT NULL
        ) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS tidemark_scope_page (
            scope TEXT NOT NULL,
            position INTEGER NOT NULL,
            collection TEXT NOT NULL,
            floor INTEGER,
            is_complete INTEGER NOT NULL,
            remaining INTEGER,
            began INTEGER NOT NULL DEFAULT 0,
            turn INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY (scope, collection)
        ) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS tidemark_tombstone (
            collection TEXT NOT NULL,
            local_id TEXT NOT NULL,
            scope TEXT NOT NULL,
            seq INTEGER NOT NULL,
            PRIMARY KEY (collection, local_id)
        ) WITHOUT ROWID;
        CREATE INDEX IF NOT EXISTS tidemark_tombstone_scope ON tidemark_tombstone (scope);
        CREATE TABLE IF NOT EXISTS tidemark_past (
            n INTEGER PRIMARY KEY,
            cursor TEXT NOT NULL
        );
        CREATE TABLE IF NOT EXISTS tidemark_deletion (
            collection TEXT NOT NULL,
            local_id TEXT NOT NULL,
            scope TEXT NOT NULL,
            seq INTEGER NOT NULL,
            PRIMARY KEY (collection, local_id)
        ) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS tidemark_refetch (
            scope TEXT NOT NULL,
            collection TEXT NOT NULL,
            local_id TEXT NOT NULL,
            PRIMARY KEY (scope, collection, local_id)
        ) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS tidemark_compare (
            scope TEXT NOT NULL,
            collection TEXT NOT NULL,
            high INTEGER NOT NULL,
            low INTEGER NOT NULL,
            is_listed INTEGER NOT NULL,
            PRIMARY KEY (scope, collection, high)
        ) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS tidemark_spooled (
            id TEXT PRIMARY KEY NOT NULL
        ) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS tidemark_keeping (
            scope TEXT PRIMARY KEY NOT NULL,
            rows INTEGER
        ) WITHOUT ROWID;
        """

    /// The first lists the pages to come in the order of their requests, so that no request scans all of them. It is
    /// empty when everything is filled. The second is empty as long as nothing is withheld: with all links in it, each
    /// write took one page more.
    static let indexes = """
        CREATE INDEX IF NOT EXISTS tidemark_scope_page_to_come
        ON tidemark_scope_page (floor DESC, turn DESC, scope, position, collection) WHERE \(ScopeTable.isToCome);
        CREATE INDEX IF NOT EXISTS tidemark_outbox_record_withheld ON tidemark_outbox_record (scope) WHERE withheld = 1;
        """
}
