/// The tables of a new database, at the newest generation, in one script: the result of ``PostgresSchema``. A test
/// compares the catalogs of both. `PostgresSchema` and `PLACES.md` explain the tables and indexes.
enum PostgresBaseline {
    /// The generation that it makes.
    static let generation = 19

    static var statements: [String] {
        [PostgresSchema.makeHistory] + tables + GuardSQL.tables + FenceSQL.tables + statistics
            // Added last, so that these columns have no statistics of their own.
            + ["ALTER TABLE sync_client ADD COLUMN seen bigint NOT NULL DEFAULT 0"] + SchemaSQL.tables
            + LineageSQL.tables + PostgresBackupNote.tables + RevocationSQL.tables + OperatingSQL.tables
            + [PostgresSchema.devices, PostgresSchema.buried] + AccountSQL.tables + ErasureSQL.tables + [
                "CREATE INDEX \(ErasureSQL.blobIndex.name) ON sync_blob_scope (workspace, digest, scope)",
                "CREATE INDEX sync_blob_stage ON \(BlobCompactionSQL.stages)",
            ]
            + PostgresSchema.steps.enumerated().map { index, step in
                "INSERT INTO sync_migration (version, name) VALUES (\(index + 1), '\(step.name)')"
            } + ["INSERT INTO sync_fence (generation, oldest) VALUES (\(generation), \(PostgresSchema.landed))"]
    }

    /// The statements that make statistics of two rows and delete them again, see `PostgresSchema`.
    private static let statistics =
        [PostgresSchema.twoRecords, PostgresSchema.twoClients, PostgresSchema.twoMembers]
        + ["sync_record", "sync_client", "sync_member"].flatMap(PostgresSchema.analyzed)

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
        + PostgresSchema.keyed("sync_batch", "workspace, seq")
        + PostgresSchema.keyed("sync_record", "id, collection, workspace")
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
        + PostgresSchema.keyed("sync_client", "client, workspace")
        + PostgresSchema.keyed("sync_member", "workspace, user_id, scope")
        + PostgresSchema.keyed("sync_listener", "workspace, node")
        + PostgresSchema.keyed("sync_ledger", "workspace, collection, id, seq, field")
        + BlobSQL.tables
}
