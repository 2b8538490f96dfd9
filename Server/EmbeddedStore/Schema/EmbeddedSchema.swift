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
    /// The generation of the first release, of the tables below: see `Store/Generations/GENERATIONS.md`.
    static let first = 14

    /// The generations since then, in order; a released one is never edited.
    static let generations: [Generation] = []

    static let tables = """
        CREATE TABLE sync_workspace (
            workspace TEXT NOT NULL PRIMARY KEY,
            horizon INTEGER NOT NULL DEFAULT 0,
            keep INTEGER,
            compacted INTEGER NOT NULL DEFAULT 0
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

        CREATE TABLE sync_scope (
            place INTEGER PRIMARY KEY,
            workspace TEXT NOT NULL,
            scope TEXT NOT NULL,
            UNIQUE (workspace, scope)
        ) STRICT;

        CREATE TABLE sync_record (
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
            buried TEXT,
            UNIQUE (id, collection, workspace),
            CHECK ((deleted = 1) = (body IS NULL))
        ) STRICT;
        CREATE INDEX sync_record_dead ON sync_record (workspace, seq) WHERE deleted = 1;

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
            seen INTEGER NOT NULL DEFAULT 0,
            app TEXT,
            written INTEGER,
            position INTEGER,
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

        -- min_app is an AppRequirement
        CREATE TABLE sync_schema (
            number INTEGER PRIMARY KEY,
            applied INTEGER NOT NULL,
            document TEXT NOT NULL,
            min_app TEXT NOT NULL,
            note TEXT NOT NULL
        ) STRICT;

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

        -- where epochs begin; base holds the bits of an unsigned number
        CREATE TABLE sync_lineage (
            workspace TEXT NOT NULL,
            epoch INTEGER NOT NULL,
            first INTEGER NOT NULL,
            base INTEGER NOT NULL,
            time INTEGER NOT NULL,
            reason TEXT NOT NULL,
            lost INTEGER NOT NULL,
            PRIMARY KEY (workspace, epoch)
        ) STRICT, WITHOUT ROWID;

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

        \(EmbeddedErasureSQL.table);

        \(RevocationSQL.tables.joined(separator: ";\n"));

        \(OperatingSQL.tables.joined(separator: ";\n"));

        \(AccountSQL.tables.joined(separator: ";\n"));
        """

    /// The fence and the steps done: which versions the file serves, see `Store/Generations/GENERATIONS.md`.
    static let fence = """
        CREATE TABLE sync_fence (
            one INTEGER PRIMARY KEY CHECK (one = 1),
            generation INTEGER NOT NULL,
            oldest INTEGER NOT NULL,
            CHECK (oldest <= generation)
        ) STRICT;

        CREATE TABLE sync_step (
            step TEXT NOT NULL PRIMARY KEY,
            position TEXT,
            rows INTEGER NOT NULL DEFAULT 0,
            done INTEGER NOT NULL DEFAULT 0
        ) STRICT, WITHOUT ROWID;
        """
}
