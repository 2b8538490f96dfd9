import GRDB

/// Tidemark's own tables. Their names start with `tidemark_`, which no collection may.
enum LocalTables {
    /// The format of these tables. It is raised when their shape changes, or when an SDK of the format before would
    /// misread the content. Format 9: patches of keys of maps with rule `keys` in the outbox. Format 10: a record that
    /// is new to the device has no row in `tidemark_base`. Format 11: names of indexes and full-text indexes, and the
    /// turn in which a scope is filled.
    static let format: Int64 = 11

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

    /// Indexes of columns that tables of an older format have only after `upgrade`. The first lists the pages to come
    /// in the order of their requests, so that no request scans all of them. It is empty when everything is filled. The
    /// second is empty as long as nothing is withheld: with all links in it, each write took one page more.
    static let indexes = """
        CREATE INDEX IF NOT EXISTS tidemark_scope_page_to_come
        ON tidemark_scope_page (floor DESC, turn DESC, scope, position, collection) WHERE \(ScopeTable.isToCome);
        CREATE INDEX IF NOT EXISTS tidemark_outbox_record_withheld ON tidemark_outbox_record (scope) WHERE withheld = 1;
        """

    /// Brings the tables of an older format up to this one.
    static func upgrade(_ db: Database) throws {
        if try !db.columns(in: "tidemark_scope_page").contains(where: { $0.name == "remaining" }) {
            try db.execute(sql: "ALTER TABLE tidemark_scope_page ADD COLUMN remaining INTEGER")
        }
        if try !db.columns(in: "tidemark_outbox").contains(where: { $0.name == "attempted" }) {
            try db.execute(sql: "ALTER TABLE tidemark_outbox ADD COLUMN attempted INTEGER")
        }
        // Until format 5 a receipt was written with its transaction, and an index led from a number to its records.
        if try db.columns(in: "tidemark_receipt").contains(where: { $0.name == "n" }) {
            try db.execute(
                sql: """
                    DELETE FROM tidemark_receipt WHERE state NOT IN ('committed', 'parked');
                    ALTER TABLE tidemark_receipt DROP COLUMN n;
                    DROP INDEX IF EXISTS tidemark_outbox_record_n;
                    """)
        }
        // Until format 7 no past cursors were kept: everything being filled began before the first of them.
        if try !db.columns(in: "tidemark_scope_page").contains(where: { $0.name == "began" }) {
            try db.execute(sql: "ALTER TABLE tidemark_scope_page ADD COLUMN began INTEGER NOT NULL DEFAULT 0")
        }
        // Until format 10 the order of filling was computed for all scopes at each page.
        if try !db.columns(in: "tidemark_scope_page").contains(where: { $0.name == "turn" }) {
            try db.execute(
                sql: """
                    ALTER TABLE tidemark_scope_page ADD COLUMN turn INTEGER NOT NULL DEFAULT 0;
                    UPDATE tidemark_scope_page SET turn = coalesce(
                        (SELECT since FROM tidemark_scope AS s WHERE s.scope = tidemark_scope_page.scope AND since > 0),
                        \(ScopeFilling.turn(of: 0)));
                    """)
        }
        // Until format 6 all links were found by their scopes, and a full-text index was updated with each row.
        if try !db.columns(in: "tidemark_outbox_record").contains(where: { $0.name == "withheld" }) {
            try db.execute(
                sql: """
                    DROP INDEX IF EXISTS tidemark_outbox_record_scope;
                    ALTER TABLE tidemark_outbox_record ADD COLUMN withheld INTEGER NOT NULL DEFAULT 0;
                    UPDATE tidemark_outbox_record SET withheld = 1
                    WHERE n IN (SELECT n FROM tidemark_outbox WHERE state IN ('withdrawn', 'waiting'));
                    """)
        }
        try dropFormerNames(db)
        // Until format 8 a transaction left the outbox when it was settled.
        for (table, column) in [
            ("tidemark_outbox", "seq INTEGER"), ("tidemark_outbox", "settled INTEGER"),
            ("tidemark_outbox", "scopes TEXT"), ("tidemark_parked", "awaits INTEGER"),
        ] {
            let name = column.prefix { $0 != " " }
            if try !db.columns(in: table).contains(where: { $0.name == name }) {
                try db.execute(sql: "ALTER TABLE \(table) ADD COLUMN \(column)")
            }
        }
    }
    /// Drops indexes by their former names; they are created anew under other names. Until format 10 the name of one
    /// collection's index could equal another's, and a full-text index's that of a table that FTS5 keeps beside
    /// another.
    private static func dropFormerNames(_ db: Database) throws {
        // Triggers first, which lead to the indexes; FTS5 drops its own tables.
        let former = """
            SELECT type, name FROM sqlite_master
            WHERE type = 'trigger' AND name GLOB 'tidemark_search_*'
                OR type = 'table' AND name GLOB 'tidemark_search_*' AND sql LIKE 'CREATE VIRTUAL TABLE%'
                OR type = 'index' AND name GLOB 'tidemark_*' AND tbl_name NOT GLOB 'tidemark_*'
            ORDER BY type DESC
            """
        for row in try db.all(former) {
            try db.execute(sql: "DROP \(try row.text(0)) \(CollectionTable.quoted(try row.text(1)))")
        }
        try db.execute(sql: "DELETE FROM tidemark_indexed")
    }
}
