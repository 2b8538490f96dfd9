package import TidemarkStore

/// The tables, made to be read by a person with `psql`: keys are texts, ids are UUIDs, bodies are JSON.
///
/// - Every key holds the workspace, so that a distributed PostgreSQL can distribute rows by it. Keys of records begin
///   with the column that differs most: a search in an index compares a dozen keys or two, and each equal column costs
///   as much.
/// - Texts compare by bytes (`COLLATE "C"`): the same order on every host, and twice as fast as a language's order.
/// - The column is `user_id` because `SELECT user` without quotes means the database role.
/// - `sync_record.body` is `json`, which keeps the exact bytes (`jsonb` would not) and can be queried with `->>`:
///   measured 3 % slower to write than `bytea`.
/// - `sync_record.place` replaces scope and workspace in the indexes, see `PLACES.md`.
/// - `sync_record.octets` is the size of the body: windows and pages are cut by it without reading the bodies they
///   leave out.
/// - `sync_batch.body` lives for minutes: compressing it would cost more than it saves.
package enum PostgresSchema {
    /// The generation of the first release, of the tables below: see `Store/Generations/GENERATIONS.md`.
    static let first = 19

    /// The generations since then, in order; a released one is never edited.
    package static let generations: [Generation] = []

    /// Makes the tables of the first release.
    static let baseline =
        tables + GuardSQL.tables + FenceSQL.tables + statistics + late + SchemaSQL.tables + LineageSQL.tables
        + PostgresBackupNote.tables + RevocationSQL.tables + OperatingSQL.tables + AccountSQL.tables
        + ErasureSQL.tables

    /// Added after the rows of `statistics`, so that these columns have no statistics of their own.
    private static let late = [
        """
        ALTER TABLE sync_client
        ADD COLUMN seen bigint NOT NULL DEFAULT 0,
        ADD COLUMN app text,
        ADD COLUMN written bigint,
        ADD COLUMN position bigint
        """,
        "ALTER TABLE sync_record ADD COLUMN buried json",
    ]

    /// The statistics of two rows that are deleted again: the hint of `keyed` on `workspace` outlives them.
    ///
    /// Otherwise a table that was vacuumed and never analyzed is taken to hold two hundred workspaces. Up to some 300
    /// rows are then one row each, and any index on the workspace, or a join from the other side, looks as good as the
    /// key. Autovacuum causes that state each time, and a plan that is made then stays until the counts change.
    private static let statistics =
        [twoRecords, twoClients, twoMembers] + ["sync_record", "sync_client", "sync_member"].flatMap(analyzed)

    private static let twoRecords = """
        INSERT INTO sync_record (
            workspace, collection, id, scope, place, seq, born, deleted, author, created, updated, octets)
        SELECT '', '', lpad(n::text, 32, '0')::uuid, '', n, n, n, true, '', 0, 0, 0 FROM generate_series(1, 2) AS n
        """

    private static let twoMembers = """
        INSERT INTO sync_member (workspace, user_id, scope, role, since)
        SELECT '', n::text, '', '', 0 FROM generate_series(1, 2) AS n
        """

    private static let twoClients = """
        INSERT INTO sync_client (workspace, client, user_id, settled, acked, connection, registered)
        SELECT '', lpad(n::text, 32, '0')::uuid, '', 0, 0, 0, 0 FROM generate_series(1, 2) AS n
        """

    private static func analyzed(_ table: String) -> [String] {
        ["ANALYZE \(table)", "DELETE FROM \(table) WHERE workspace = ''"]
    }

    private static let tables =
        [
            """
            CREATE TABLE sync_workspace (
                workspace text COLLATE "C" PRIMARY KEY,
                salt bigint NOT NULL DEFAULT hashtextextended(gen_random_uuid()::text, 0),
                horizon bigint NOT NULL DEFAULT 0,
                keep bigint,
                compacted bigint NOT NULL DEFAULT 0
            )
            """,
            """
            CREATE TABLE sync_batch (
                workspace text COLLATE "C" NOT NULL,
                seq bigint NOT NULL,
                low bigint NOT NULL,
                nonce bigint NOT NULL,
                time bigint NOT NULL,
                epoch bigint NOT NULL,
                body text,
                CHECK (low <= seq)
            )
            """,
            "ALTER TABLE sync_batch ALTER COLUMN body SET STORAGE EXTERNAL",
            "CREATE INDEX sync_batch_body ON sync_batch (workspace, seq) WHERE body IS NOT NULL",
            """
            CREATE TABLE sync_record (
                workspace text COLLATE "C" NOT NULL,
                collection text COLLATE "C" NOT NULL,
                id uuid NOT NULL,
                scope text COLLATE "C" NOT NULL,
                seq bigint NOT NULL,
                born bigint NOT NULL,
                deleted boolean NOT NULL,
                author text COLLATE "C" NOT NULL,
                created bigint NOT NULL,
                updated bigint NOT NULL,
                octets integer NOT NULL,
                body json,
                place bigint NOT NULL,
                CHECK (deleted = (body IS NULL))
            ) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02)
            """,
            """
            CREATE TABLE sync_client (
                workspace text COLLATE "C" NOT NULL,
                client uuid NOT NULL,
                user_id text COLLATE "C" NOT NULL,
                settled bigint NOT NULL,
                acked bigint NOT NULL,
                connection bigint NOT NULL,
                registered bigint NOT NULL,
                kept json NOT NULL DEFAULT '[]'
            ) WITH (fillfactor = 45, autovacuum_vacuum_scale_factor = 0.02)
            """,
            """
            CREATE TABLE sync_member (
                workspace text COLLATE "C" NOT NULL,
                user_id text COLLATE "C" NOT NULL,
                scope text COLLATE "C" NOT NULL,
                role text NOT NULL,
                since bigint NOT NULL
            )
            """,
            """
            CREATE TABLE sync_listener (
                workspace text COLLATE "C" NOT NULL,
                node bigint NOT NULL,
                seen bigint NOT NULL
            )
            """,
            """
            CREATE TABLE sync_ledger (
                workspace text COLLATE "C" NOT NULL,
                collection text COLLATE "C" NOT NULL,
                id uuid NOT NULL,
                scope text COLLATE "C" NOT NULL,
                seq bigint NOT NULL,
                field text COLLATE "C" NOT NULL,
                rule text NOT NULL,
                old json,
                new json,
                old_author text COLLATE "C",
                author text COLLATE "C" NOT NULL,
                client uuid NOT NULL,
                app text,
                time bigint NOT NULL,
                octets bigint NOT NULL
            )
            """,
            "CREATE INDEX sync_ledger_time ON sync_ledger (time)",
        ]
        + keyed("sync_batch", "workspace, seq")
        + keyed("sync_record", "id, collection, workspace")
        + [
            "CREATE INDEX sync_record_feed ON sync_record (place, seq) WITH (deduplicate_items = off)",
            """
            CREATE INDEX sync_record_page ON sync_record (place, collection, born)
            WITH (deduplicate_items = off)
            WHERE NOT deleted
            """,
            "CREATE INDEX sync_record_dead ON sync_record (workspace, seq) WHERE deleted",
            "CREATE INDEX sync_client_user ON sync_client (user_id, workspace)",
        ]
        + keyed("sync_client", "client, workspace")
        + keyed("sync_member", "workspace, user_id, scope")
        + keyed("sync_listener", "workspace, node")
        + keyed("sync_ledger", "workspace, collection, id, seq, field")
        + BlobSQL.tables

    /// Two hints for the planner, which must not use another index than the primary key for a search by its columns. If
    /// it believes that a workspace has one row, all indexes look alike, so it is told to expect a hundred. If the
    /// whole table has one row, it uses the index that was made last.
    static func keyed(_ table: String, _ columns: String) -> [String] {
        [
            "ALTER TABLE \(table) ADD PRIMARY KEY (\(columns))",
            "ALTER TABLE \(table) ALTER COLUMN workspace SET (n_distinct = -0.01)",
        ]
    }
}
