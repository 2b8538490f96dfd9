import GRDB
import TidemarkStore

/// The tables of the file, made to be read by a person with `sqlite3`: `SELECT * FROM sync_record` shows texts.
///
/// Identifiers are 36 characters of text rather than 16 bytes. Measured with 100,000 records of 200 bytes in batches of
/// 500, with clients and results: the bytes take the same processor time (within 5 %), write 4 % less and make the file
/// 8 % smaller. That is not worth an unreadable file. `body` is the last column: the columns before it are read without
/// overflow pages. Tables with bodies keep a rowid, since SQLite searches a table without one through its rows; small
/// ones have none.
///
/// Only the tables that find the records of a scope know it by a number: their entries are a quarter as long, and
/// comparisons are of integers. They learn of records by hundreds (``Filing``), as an index cannot: hence `sync_feed`
/// and `sync_page`.
enum EmbeddedSchema {
    /// The generation of the last version without generations: the migrator leads up to it.
    static let landed = 4

    /// The generations since then, in order; a released one is never edited.
    static let generations = [
        Generation(
            5, "when clients were seen",
            steps: [
                .init(
                    "when clients were seen",
                    .tables(["ALTER TABLE sync_client ADD COLUMN seen INTEGER NOT NULL DEFAULT 0"])),
                .init("clients from before", .backfill(seen)),
            ]),
        Generation(
            6, "horizons",
            steps: [
                // keep and compacted are milliseconds.
                .init(
                    "horizons",
                    .tables([
                        "ALTER TABLE sync_workspace ADD COLUMN horizon INTEGER NOT NULL DEFAULT 0",
                        "ALTER TABLE sync_workspace ADD COLUMN keep INTEGER",
                        "ALTER TABLE sync_workspace ADD COLUMN compacted INTEGER NOT NULL DEFAULT 0",
                    ])),
                .init(
                    "tombstones",
                    .index(
                        "sync_record_dead",
                        "CREATE INDEX sync_record_dead ON sync_record (workspace, seq) WHERE deleted = 1")),
            ]),
        Generation(
            7, "schemas of apps, and the apps of clients",
            steps: [
                // min_app is an ``AppRequirement``.
                .init(
                    "schemas",
                    .tables([
                        """
                        CREATE TABLE sync_schema (
                            number INTEGER PRIMARY KEY,
                            applied INTEGER NOT NULL,
                            document TEXT NOT NULL,
                            min_app TEXT NOT NULL,
                            note TEXT NOT NULL
                        ) STRICT
                        """,
                        "ALTER TABLE sync_client ADD COLUMN app TEXT",
                    ]))
            ]),
        Generation(8, "lineage", steps: [.init("lineage", .tables([LineageSQL.table]))]),
        Generation(9, "what is erased", steps: [.init("what is erased", .tables([EmbeddedErasureSQL.table]))]),
        Generation(10, "what is revoked", steps: [.init("what is revoked", .tables(RevocationSQL.tables))]),
        Generation(
            11, "acts of operators, ended memberships",
            steps: [.init("acts and ended memberships", .tables(OperatingSQL.tables))]),
        Generation(
            12, "what devices say of themselves",
            steps: [
                .init(
                    "what devices say",
                    .tables([
                        "ALTER TABLE sync_client ADD COLUMN written INTEGER",
                        "ALTER TABLE sync_client ADD COLUMN position INTEGER",
                    ]))
            ]),
        Generation(13, "accounts", steps: [.init("accounts", .tables(AccountSQL.tables))]),
        Generation(
            14, "what was deleted",
            steps: [.init("what was deleted", .tables(["ALTER TABLE sync_record ADD COLUMN buried TEXT"]))]),
    ]

    /// Gives clients without a last-seen time the current time: compaction forgets clients that were not seen for long.
    private static let seen = Generation.Backfill(
        table: "sync_client", start: #"["",""]"#,
        page: """
            SELECT workspace, client, json_array(workspace, client), seen = 0
            FROM sync_client
            WHERE (workspace, client) > (json_extract(?1, '$[0]'), json_extract(?1, '$[1]'))
            ORDER BY workspace, client
            LIMIT ?2
            """,
        fill: """
            UPDATE sync_client
            SET seen = CAST(strftime('%s', 'now') AS INTEGER) * 1000
            WHERE workspace = ?1 AND client = ?2 AND seen = 0
            """)

    /// The steps to the landed generation, in order; a released step is never edited. New files skip them, see
    /// ``EmbeddedBaseline``.
    static func migrator(report: @escaping @Sendable (MigrationEvent) -> Void) -> DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration(names[0]) { db in try db.execute(sql: first) }
        migrator.registerMigration(names[1]) { db in try db.execute(sql: second) }
        migrator.registerMigration(names[2]) { db in
            try db.execute(sql: third)
            try copy(db, thirdCopy, names[2], report)
            try db.execute(sql: thirdEnd)
        }
        migrator.registerMigration(names[3]) { db in
            try db.execute(sql: fourth)
            try copy(db, fourthCopy, names[3], report)
            try db.execute(sql: fourthEnd)
        }
        return migrator
    }

    static let names = [
        "1 order, records, clients, members", "2 conflict ledger", "3 short keys of scopes in the indexes",
        "4 records are filed by hundreds, keys that begin with what differs",
    ]
    /// The name of a migration that existed between two releases.
    static let early = "5 when clients were seen"

    /// Rewrites the records, some thousand at a time so that progress can be reported. In the step's own transaction.
    private static func copy(
        _ db: Database, _ sql: String, _ step: String, _ report: (MigrationEvent) -> Void
    ) throws {
        guard let last = try Int64.fetchOne(db, sql: "SELECT max(rowid) FROM sync_record") else { return }
        report(.began(step: step, rows: last))
        var through: Int64 = 0
        while through < last {
            let next = min(through + 10_000, last)
            try db.execute(sql: sql, arguments: [through, next])
            through = next
            report(.moved(step: step, rows: through, of: last))
        }
        report(.ended(step: step))
    }

    private static let first = """
        CREATE TABLE sync_workspace (
            workspace TEXT NOT NULL PRIMARY KEY
        ) STRICT, WITHOUT ROWID;

        -- nonce holds the bits of an unsigned number.
        CREATE TABLE sync_batch (
            workspace TEXT NOT NULL,
            seq INTEGER NOT NULL,
            low INTEGER NOT NULL,
            nonce INTEGER NOT NULL,
            time INTEGER NOT NULL,
            epoch INTEGER NOT NULL,
            body TEXT,
            PRIMARY KEY (workspace, seq),
            CHECK (low <= seq)
        ) STRICT;

        CREATE TABLE sync_record (
            workspace TEXT NOT NULL,
            collection TEXT NOT NULL,
            id TEXT NOT NULL,
            scope TEXT NOT NULL,
            seq INTEGER NOT NULL,
            born INTEGER NOT NULL,
            deleted INTEGER NOT NULL,
            author TEXT NOT NULL,
            created INTEGER NOT NULL,
            updated INTEGER NOT NULL,
            body TEXT,
            PRIMARY KEY (workspace, collection, id),
            CHECK ((deleted = 1) = (body IS NULL))
        ) STRICT;
        CREATE UNIQUE INDEX sync_record_feed ON sync_record (workspace, scope, seq);
        CREATE INDEX sync_record_page ON sync_record (workspace, scope, collection, born) WHERE deleted = 0;

        CREATE TABLE sync_client (
            workspace TEXT NOT NULL,
            client TEXT NOT NULL,
            user TEXT NOT NULL,
            settled INTEGER NOT NULL,
            acked INTEGER NOT NULL,
            connection INTEGER NOT NULL,
            registered INTEGER NOT NULL,
            -- outcomes that the client has not acknowledged
            kept TEXT NOT NULL DEFAULT '[]',
            PRIMARY KEY (workspace, client)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX sync_client_user ON sync_client (workspace, user);

        CREATE TABLE sync_member (
            workspace TEXT NOT NULL,
            user TEXT NOT NULL,
            scope TEXT NOT NULL,
            role TEXT NOT NULL,
            since INTEGER NOT NULL,
            PRIMARY KEY (workspace, user, scope)
        ) STRICT, WITHOUT ROWID;
        """

    /// octets counts the bytes of both values.
    private static let second = """
        CREATE TABLE sync_ledger (
            workspace TEXT NOT NULL,
            collection TEXT NOT NULL,
            id TEXT NOT NULL,
            scope TEXT NOT NULL,
            seq INTEGER NOT NULL,
            field TEXT NOT NULL,
            rule TEXT NOT NULL,
            old TEXT,
            new TEXT,
            old_author TEXT,
            author TEXT NOT NULL,
            client TEXT NOT NULL,
            app TEXT,
            time INTEGER NOT NULL,
            octets INTEGER NOT NULL,
            PRIMARY KEY (workspace, collection, id, seq, field)
        ) STRICT;
        CREATE INDEX sync_ledger_time ON sync_ledger (workspace, time);
        """

    /// place is the scope's number, unique over all workspaces.
    private static let third = """
        CREATE TABLE sync_scope (
            place INTEGER PRIMARY KEY,
            workspace TEXT NOT NULL,
            scope TEXT NOT NULL,
            UNIQUE (workspace, scope)
        ) STRICT;
        INSERT INTO sync_scope (workspace, scope)
        SELECT DISTINCT workspace, scope FROM sync_record ORDER BY workspace, scope;

        CREATE TABLE sync_record_placed (
            workspace TEXT NOT NULL,
            collection TEXT NOT NULL,
            id TEXT NOT NULL,
            scope TEXT NOT NULL,
            place INTEGER NOT NULL,
            seq INTEGER NOT NULL,
            born INTEGER NOT NULL,
            deleted INTEGER NOT NULL,
            author TEXT NOT NULL,
            created INTEGER NOT NULL,
            updated INTEGER NOT NULL,
            body TEXT,
            PRIMARY KEY (workspace, collection, id),
            CHECK ((deleted = 1) = (body IS NULL))
        ) STRICT;
        """

    private static let thirdCopy = """
        INSERT INTO sync_record_placed (
            workspace, collection, id, scope, place, seq, born, deleted, author, created, updated, body)
        SELECT r.workspace, collection, id, r.scope, place, seq, born, deleted, author, created, updated, body
        FROM sync_record r
        JOIN sync_scope s ON s.workspace = r.workspace AND s.scope = r.scope
        WHERE r.rowid > ? AND r.rowid <= ?
        ORDER BY r.rowid
        """

    private static let thirdEnd = """
        DROP TABLE sync_record;
        ALTER TABLE sync_record_placed RENAME TO sync_record;
        CREATE UNIQUE INDEX sync_record_feed ON sync_record (place, seq);
        CREATE INDEX sync_record_page ON sync_record (place, collection, born) WHERE deleted = 0;
        """

    /// through is the last row that sync_feed and sync_page contain: at first none, and all once the file has been
    /// opened. The triggers keep their entries up to date.
    private static let fourth = """
        CREATE TABLE sync_record_filed (
            row INTEGER PRIMARY KEY,
            id TEXT NOT NULL,
            collection TEXT NOT NULL,
            workspace TEXT NOT NULL,
            scope TEXT NOT NULL,
            place INTEGER NOT NULL,
            seq INTEGER NOT NULL,
            born INTEGER NOT NULL,
            deleted INTEGER NOT NULL,
            author TEXT NOT NULL,
            created INTEGER NOT NULL,
            updated INTEGER NOT NULL,
            body TEXT,
            UNIQUE (id, collection, workspace),
            CHECK ((deleted = 1) = (body IS NULL))
        ) STRICT;
        """

    private static let fourthCopy = """
        INSERT INTO sync_record_filed (
            id, collection, workspace, scope, place, seq, born, deleted, author, created, updated, body)
        SELECT id, collection, workspace, scope, place, seq, born, deleted, author, created, updated, body
        FROM sync_record
        WHERE rowid > ? AND rowid <= ?
        ORDER BY rowid
        """

    private static let fourthEnd = """
        DROP TABLE sync_record;
        ALTER TABLE sync_record_filed RENAME TO sync_record;

        CREATE TABLE sync_feed (
            place INTEGER NOT NULL,
            seq INTEGER NOT NULL,
            row INTEGER NOT NULL,
            PRIMARY KEY (place, seq)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE sync_page (
            place INTEGER NOT NULL,
            collection TEXT NOT NULL,
            born INTEGER NOT NULL,
            row INTEGER NOT NULL,
            PRIMARY KEY (place, collection, born)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE sync_filing (
            only INTEGER PRIMARY KEY CHECK (only = 1),
            through INTEGER NOT NULL
        ) STRICT;
        INSERT INTO sync_filing (only, through) VALUES (1, 0);

        CREATE TRIGGER sync_record_moves AFTER UPDATE OF seq ON sync_record
        WHEN old.row <= (SELECT through FROM sync_filing)
        BEGIN
            UPDATE sync_feed SET seq = new.seq WHERE place = old.place AND seq = old.seq;
        END;
        CREATE TRIGGER sync_record_ends AFTER UPDATE OF deleted ON sync_record
        WHEN old.deleted = 0 AND new.deleted = 1 AND old.row <= (SELECT through FROM sync_filing)
        BEGIN
            DELETE FROM sync_page WHERE place = old.place AND collection = old.collection AND born = old.born;
        END;
        CREATE TRIGGER sync_record_returns AFTER UPDATE OF deleted ON sync_record
        WHEN old.deleted = 1 AND new.deleted = 0 AND old.row <= (SELECT through FROM sync_filing)
        BEGIN
            INSERT INTO sync_page (place, collection, born, row)
            VALUES (new.place, new.collection, new.born, new.row);
        END;
        """
}
