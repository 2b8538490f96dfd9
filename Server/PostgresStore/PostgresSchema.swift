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
    struct Step {
        let name: String
        let statements: [String]
    }

    /// The generation of the last version without generations: `steps` lead up to it.
    static let landed = 6
    /// The steps that made these tables.
    static let (ledgerSince, blobsSince) = (2, 3)

    /// The generations since then, in order; a released one is never edited.
    package static let generations = [
        Generation(7, "guards and a probe of hashes", steps: [.init("guards and probe", .tables(GuardSQL.tables))]),
        Generation(
            8, "when clients were seen",
            steps: [
                // Nodes of the version before go on inserting without it.
                .init(
                    "when clients were seen",
                    .tables(["ALTER TABLE sync_client ADD COLUMN seen bigint NOT NULL DEFAULT 0"])),
                .init("clients from before", .backfill(seen)),
            ]),
        Generation(
            9, "horizons",
            steps: [
                // keep and compacted are milliseconds.
                .init(
                    "horizons",
                    .tables([
                        """
                        ALTER TABLE sync_workspace
                        ADD COLUMN horizon bigint NOT NULL DEFAULT 0,
                        ADD COLUMN keep bigint,
                        ADD COLUMN compacted bigint NOT NULL DEFAULT 0
                        """
                    ])),
                .init(
                    "tombstones",
                    .index(
                        "sync_record_dead",
                        """
                        CREATE INDEX CONCURRENTLY sync_record_dead ON sync_record (workspace, seq) WHERE deleted
                        """)),
            ]),
        Generation(
            10, "schemas of apps, and the apps of clients", steps: [.init("schemas", .tables(SchemaSQL.tables))]),
        Generation(11, "lineage", steps: [.init("lineage", .tables(LineageSQL.tables))]),
        Generation(
            12, "what is erased",
            steps: [
                .init("what is erased", .tables(ErasureSQL.tables)),
                .init("blobs by digest", .index(ErasureSQL.blobIndex.name, ErasureSQL.blobIndex.statement)),
            ]),
        PostgresBackupNote.generation,
        Generation(14, "what is revoked", steps: [.init("what is revoked", .tables(RevocationSQL.tables))]),
        BlobCompactionSQL.generation, OperatingSQL.generation,
        Generation(17, "what devices say of themselves", steps: [.init("what devices say", .tables([devices]))]),
        AccountSQL.generation,
        Generation(19, "what was deleted", steps: [.init("what was deleted", .tables([buried]))]),
    ]

    static let buried = "ALTER TABLE sync_record ADD COLUMN buried json"

    static let devices = "ALTER TABLE sync_client ADD COLUMN written bigint, ADD COLUMN position bigint"

    /// Gives clients without a last-seen time the current time: compaction forgets clients that were not seen for long.
    private static let seen = Generation.Backfill(
        table: "sync_client", start: #"["00000000-0000-0000-0000-000000000000",""]"#,
        page: """
            SELECT c.workspace, c.client::text, json_build_array(c.client, c.workspace)::text, c.seen = 0
            FROM sync_client c
            WHERE (c.client, c.workspace) > (($1::json ->> 0)::uuid, $1::json ->> 1)
            ORDER BY c.client, c.workspace
            LIMIT $2
            """,
        fill: """
            UPDATE sync_client
            SET seen = (extract(epoch FROM now()) * 1000)::bigint
            WHERE workspace = $1 AND client = ANY ($2::uuid[]) AND seen = 0
            """)

    /// The steps to the landed generation, in order; a released step is never edited. New databases skip them, see
    /// ``PostgresBaseline``.
    static let steps = [
        Step(name: "order, records, clients, members", statements: first),
        Step(name: "conflict ledger", statements: second),
        Step(name: "blobs", statements: BlobSQL.tables),
        Step(name: "statistics before rows", statements: fourth),
        Step(name: "keys of records that differ early", statements: fifth),
        Step(name: "scopes have places", statements: sixth),
    ]

    static let makeHistory = """
        CREATE TABLE sync_migration (
            version integer PRIMARY KEY,
            name text NOT NULL,
            applied timestamptz NOT NULL DEFAULT now()
        )
        """

    private static let first =
        [
            """
            CREATE TABLE sync_workspace (
                workspace text COLLATE "C" PRIMARY KEY
            )
            """,
            // nonce holds the bits of an unsigned number.
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
                CHECK (deleted = (body IS NULL))
            ) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02)
            """,
            "CREATE UNIQUE INDEX sync_record_feed ON sync_record (workspace, scope, seq)",
            "CREATE INDEX sync_record_page ON sync_record (workspace, scope, collection, born) WHERE NOT deleted",
            // Each batch updates rows within their page (HOT): the pages keep room for it. `kept` holds the outcomes
            // that the client has not acknowledged.
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
            "CREATE INDEX sync_client_user ON sync_client (workspace, user_id)",
            """
            CREATE TABLE sync_member (
                workspace text COLLATE "C" NOT NULL,
                user_id text COLLATE "C" NOT NULL,
                scope text COLLATE "C" NOT NULL,
                role text NOT NULL,
                since bigint NOT NULL
            )
            """,
            // node holds the bits of an unsigned number.
            """
            CREATE TABLE sync_listener (
                workspace text COLLATE "C" NOT NULL,
                node bigint NOT NULL,
                seen bigint NOT NULL
            )
            """,
        ] + keys.flatMap(keyed)

    /// octets counts the bytes of both values. Entries are found by time over all workspaces, to be deleted.
    private static let second =
        [
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
        ] + keyed("sync_ledger", "workspace, collection, id, seq, field")

    /// Makes statistics for the tables whose searches can choose an index, from two rows that are deleted again: the
    /// hint of `keyed` on `workspace` outlives them. Otherwise a table that was vacuumed and never analyzed is taken to
    /// hold two hundred workspaces. Up to some 300 rows are then one row each, and any index on the workspace, or a
    /// join from the other side, looks as good as the key. Autovacuum causes that state each time, and a plan that is
    /// made then stays until the counts change.
    private static let fourth =
        [
            """
            INSERT INTO sync_record (
                workspace, collection, id, scope, seq, born, deleted, author, created, updated, octets)
            SELECT '', '', lpad(n::text, 32, '0')::uuid, '', n, n, true, '', 0, 0, 0 FROM generate_series(1, 2) AS n
            """,
            twoClients,
            twoMembers,
        ] + ["sync_record", "sync_client", "sync_member"].flatMap(analyzed)

    static let twoRecords = """
        INSERT INTO sync_record (
            workspace, collection, id, scope, place, seq, born, deleted, author, created, updated, octets)
        SELECT '', '', lpad(n::text, 32, '0')::uuid, '', n, n, n, true, '', 0, 0, 0 FROM generate_series(1, 2) AS n
        """

    static let twoMembers = """
        INSERT INTO sync_member (workspace, user_id, scope, role, since)
        SELECT '', n::text, '', '', 0 FROM generate_series(1, 2) AS n
        """

    static let twoClients = """
        INSERT INTO sync_client (workspace, client, user_id, settled, acked, connection, registered)
        SELECT '', lpad(n::text, 32, '0')::uuid, '', 0, 0, 0, 0 FROM generate_series(1, 2) AS n
        """

    static func analyzed(_ table: String) -> [String] {
        ["ANALYZE \(table)", "DELETE FROM \(table) WHERE workspace = ''"]
    }

    /// The keys within a page differ as well: a search for equal ones, to store them once, is in vain each time a page
    /// is full. Measured with 256 writers that each wait for one answer: 5 % less of PostgreSQL's time a write by the
    /// order of the columns, 5 % by not searching.
    private static let fifth = [
        "DROP INDEX sync_record_feed",
        "DROP INDEX sync_record_page",
        "ALTER TABLE sync_record DROP CONSTRAINT sync_record_pkey",
        "CREATE UNIQUE INDEX sync_record_feed ON sync_record (scope, workspace, seq)",
        """
        CREATE INDEX sync_record_page ON sync_record (scope, workspace, collection, born)
        WITH (deduplicate_items = off)
        WHERE NOT deleted
        """,
        "ALTER TABLE sync_record ADD PRIMARY KEY (id, collection, workspace)",
    ]

    /// `PLACES.md` explains the places of scopes. `sync_client` is written at each push: its keys, too, begin with the
    /// column that differs most, which saves 4 % of PostgreSQL's time.
    ///
    /// The primary key is made last, see `keyed`. Making an index counts the rows, and an empty table would be treated
    /// as empty for long: so there are two rows again, see `fourth`.
    private static let sixth =
        [
            "DROP INDEX sync_record_feed",
            "DROP INDEX sync_record_page",
            """
            ALTER TABLE sync_workspace
            ADD COLUMN salt bigint NOT NULL DEFAULT hashtextextended(gen_random_uuid()::text, 0)
            """,
            "ALTER TABLE sync_record ADD COLUMN place bigint",
            """
            UPDATE sync_record r
            SET place = hashtextextended(r.scope, w.salt)
            FROM sync_workspace w
            WHERE w.workspace = r.workspace
            """,
            "ALTER TABLE sync_record ALTER COLUMN place SET NOT NULL",
            "CREATE INDEX sync_record_feed ON sync_record (place, seq) WITH (deduplicate_items = off)",
            """
            CREATE INDEX sync_record_page ON sync_record (place, collection, born)
            WITH (deduplicate_items = off)
            WHERE NOT deleted
            """,
            "DROP INDEX sync_client_user",
            "CREATE INDEX sync_client_user ON sync_client (user_id, workspace)",
            "ALTER TABLE sync_client DROP CONSTRAINT sync_client_pkey",
            "ALTER TABLE sync_client ADD PRIMARY KEY (client, workspace)",
            twoRecords,
            twoClients,
        ] + ["sync_record", "sync_client"].flatMap(analyzed)

    private static let keys = [
        ("sync_batch", "workspace, seq"), ("sync_record", "workspace, collection, id"),
        ("sync_client", "workspace, client"), ("sync_member", "workspace, user_id, scope"),
        ("sync_listener", "workspace, node"),
    ]

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
