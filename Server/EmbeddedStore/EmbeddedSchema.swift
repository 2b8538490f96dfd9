import GRDB

/// The tables of the file, made to be read by a person with `sqlite3`: `SELECT * FROM sync_record` shows texts.
///
/// Identifiers are 36 characters of text rather than 16 bytes: measured with 100,000 records of 200 bytes in batches
/// of 500, with clients and results, the bytes take the same processor time (within 5 %), write 4 % less and make the
/// file 8 % smaller, which is not worth an unreadable file. `body` stands last: what is before it is read without
/// overflow pages. Tables with bodies keep a rowid, since SQLite searches a table without one through its rows; small
/// ones go without.
///
/// Only what finds the records of a scope knows it by a number: its entries are a quarter as long, and each comparison is
/// one of integers. It learns of records by hundreds (``Filing``), as an index cannot: hence the tables `sync_feed` and
/// `sync_page`.
enum EmbeddedSchema {
    /// Every step ever released, in order; a released step is never edited.
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1 order, records, clients, members") { db in
            try db.execute(sql: first)
        }
        migrator.registerMigration("2 conflict ledger") { db in
            try db.execute(sql: second)
        }
        migrator.registerMigration("3 short keys of scopes in the indexes") { db in
            try db.execute(sql: third)
        }
        migrator.registerMigration("4 records are filed by hundreds, keys that begin with what differs") { db in
            try db.execute(sql: fourth)
        }
        migrator.registerMigration("5 when clients were seen") { db in
            try db.execute(sql: fifth)
        }
        migrator.registerMigration("6 schemas of apps, and the apps of clients") { db in
            try db.execute(sql: sixth)
        }
        return migrator
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

    /// octets are those of both values.
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

    /// place is the scope's number, over all workspaces.
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
        INSERT INTO sync_record_placed (
            workspace, collection, id, scope, place, seq, born, deleted, author, created, updated, body)
        SELECT r.workspace, collection, id, r.scope, place, seq, born, deleted, author, created, updated, body
        FROM sync_record r
        JOIN sync_scope s ON s.workspace = r.workspace AND s.scope = r.scope
        ORDER BY r.rowid;
        DROP TABLE sync_record;
        ALTER TABLE sync_record_placed RENAME TO sync_record;
        CREATE UNIQUE INDEX sync_record_feed ON sync_record (place, seq);
        CREATE INDEX sync_record_page ON sync_record (place, collection, born) WHERE deleted = 0;
        """

    /// through is the last row that sync_feed and sync_page know of: at first none, and all when the file has been
    /// opened. The triggers keep them true of rows up to it.
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
        INSERT INTO sync_record_filed (
            id, collection, workspace, scope, place, seq, born, deleted, author, created, updated, body)
        SELECT id, collection, workspace, scope, place, seq, born, deleted, author, created, updated, body
        FROM sync_record
        ORDER BY rowid;
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

    private static let fifth = "ALTER TABLE sync_client ADD COLUMN seen INTEGER NOT NULL DEFAULT 0"

    /// min_app is an ``AppRequirement``.
    private static let sixth = """
        CREATE TABLE sync_schema (
            number INTEGER PRIMARY KEY,
            applied INTEGER NOT NULL,
            document TEXT NOT NULL,
            min_app TEXT NOT NULL,
            note TEXT NOT NULL
        ) STRICT;
        ALTER TABLE sync_client ADD COLUMN app TEXT;
        """
}
