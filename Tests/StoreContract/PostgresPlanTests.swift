import Testing
import TidemarkModel
import TidemarkPostgres
import TidemarkStore

@testable import TidemarkPostgresStore

/// The plans of the hot statements. They must not depend on the number of rows when they were made: a connection
/// keeps its plans for minutes, in which an empty table can grow to a million rows.
@Suite(.enabled(if: TestSchema.isGiven && !TestSchema.isSpread), .timeLimit(.minutes(5)))
struct PostgresPlanTests {
    static let statements: [(PreparedStatement, types: [String])] = [
        (SequencingSQL.fencedLock, ["text", "bigint"]),
        (SequencingSQL.headAndListeners, ["text", "bigint"]),
        (SequencingSQL.clients, ["text", "uuid[]"]),
        (SequencingSQL.seats, ["text", "text[]", "text[]"]),
        (SequencingSQL.records, ["text", "text[]", "uuid[]", "smallint[]", "text[]"]),
        (SequencingSQL.updateClients, ["text", "uuid[]", "text[]", "bigint[]", "bigint[]", "bigint[]", "text[]"]),
        (
            SequencingSQL.insertBatch,
            ["text", "bigint", "bigint", "bigint", "bigint", "bigint", "text", "bigint", "bigint", "bigint", "bigint"]
        ),
        (SequencingSQL.removeClient, ["text", "uuid"]),
        (SequencingSQL.endMembers, ["text", "text[]", "text[]"]),
        (OperatingSQL.keepEnded, ["text", "text[]", "text[]", "bigint[]"]),
        (OperatingSQL.ended, ["text", "text", "text", "bigint"]),
        (OperatingSQL.records, ["text", "uuid"]),
        (AccountSQL.account, ["text", "text"]), (AccountSQL.accountOfUser, ["text", "text"]),
        (AccountSQL.accounts, ["text", "text", "bigint"]), (AccountSQL.lock, ["text", "text"]),
        (
            AccountSQL.replace,
            ["text", "text", "text", "bigint", "bigint", "bigint", "text", "bigint", "bigint"]
        ),
        (
            AccountSQL.replaceAndEnd,
            ["text", "text", "text", "bigint", "bigint", "bigint", "text", "bigint", "bigint", "text"]
        ),
        (AccountSQL.signIn, ["text", "text", "uuid"]),
        (AccountSQL.begin, ["text", "text", "bigint", "uuid", "bigint", "bigint", "bigint", "bigint"]),
        (AccountSQL.dropUnused, ["text", "text", "bigint"]),
        (AccountSQL.advance, ["text", "text", "uuid", "bigint", "bigint", "bigint", "bigint"]),
        (AccountSQL.end, ["text", "text", "uuid", "bigint"]),
        (SequencingSQL.dropBodies, ["text", "bigint", "bigint"]),
        (LedgerSQL.trim, ["text", "text", "uuid", "bigint", "bigint"]),
        (LedgerSQL.history, ["text", "text", "uuid", "text", "bigint"]),
        (ReadingSQL.head, ["text"]),
        (ReadingSQL.batchHolding, ["text", "bigint"]),
        (ReadingSQL.windowEnds, ["text", "bigint", "bigint"]),
        (ReadingSQL.batchBefore, ["text", "bigint"]),
        (ReadingSQL.tail, ["text", "bigint", "bigint"]),
        (ReadingSQL.changedScopes, ["text", "text[]", "bigint"]),
        (ReadingSQL.window, ["text", "text[]", "bigint", "bigint", "bigint", "bigint"]),
        (ReadingSQL.page, ["text", "text", "text", "bigint", "bigint", "bigint"]),
        (ReadingSQL.pageOfIDs, ["text", "text", "text", "uuid[]", "bigint"]),
        (ReadingSQL.client, ["text", "uuid"]),
        (ReadingSQL.sawClients, ["text", "uuid[]", "bigint[]", "text[]", "bigint[]", "bigint[]"]),
        (ReadingSQL.grants, ["text", "text"]),
        (BlobSQL.size, ["text", "text", "text"]),
        (BlobSQL.part, ["text", "text", "bigint"]),
        (BlobSQL.usage, ["text"]),
        (ErasureSQL.members, ["text", "text", "text", "bigint"]),
        (RowSQL.tombstones, ["text", "bigint", "text[]", "bigint"]),
        (RowSQL.records, ["text", "text", "bigint"]), (RowSQL.forget, ["text", "text[]", "uuid[]"]),
        (ErasureSQL.dropBodies, ["text", "text", "bigint"]),
        (ErasureSQL.countRecords, ["text", "text", "bigint", "bigint"]),
        (BlobSQL.some, ["text", "text", "bigint"]),
        (BlobSQL.drop, ["text", "text[]"]),
        (BlobSQL.lock, ["text", "text[]"]),
        (BlobCompactionSQL.due, ["text", "bigint", "bigint", "bigint", "bigint"]),
        (BlobCompactionSQL.move, ["text", "text[]", "bigint[]", "bigint"]),
        (BlobCompactionSQL.take, ["text", "text[]", "bigint[]"]),
        (BlobCompactionSQL.names, ["text", "text", "bigint", "bigint", "bigint"]),
        (
            SequencingSQL.insertRecords,
            [
                "text", "text[]", "uuid[]", "text[]", "bigint[]", "bigint[]", "text[]", "bigint[]", "bigint[]",
                "text[]",
                "text[]",
            ]
        ),
    ]
    /// The columns that the index conditions of a statement must use, besides the workspace.
    private static let searched = [
        "sync_clients": ["client"], "sync_seats": ["user_id", "scope"],
        "sync_records": ["collection", "id"], "sync_update_clients": ["client"],
        "sync_keep_ended_members": ["user_id", "scope"], "sync_ended_members": ["user_id"],
        "sync_records_of_id": ["id"],
        "sync_account": ["login"], "sync_account_of_user": ["user_id"], "sync_accounts": ["login"],
        "sync_lock_account": ["user_id"], "sync_replace_account": ["login"],
        "sync_replace_account_and_end": ["login", "user_id"],
        "sync_sign_in": ["user_id", "client"], "sync_begin_sign_in": ["user_id"],
        "sync_drop_unused_sign_ins": ["user_id"], "sync_advance_sign_in": ["user_id", "client"],
        "sync_end_sign_in": ["user_id", "client"],
        "sync_end_members": ["user_id", "scope"], "sync_drop_bodies": ["seq"], "sync_changed_scopes": ["place", "seq"],
        "sync_window": ["place", "seq"], "sync_page": ["place", "collection", "born"],
        "sync_trim_ledger": ["collection", "id"], "sync_history": ["collection", "id"],
        "sync_client": ["client"], "sync_saw_clients": ["client"], "sync_remove_client": ["client"],
        "sync_grants": ["user_id"], "sync_tail": ["seq"],
        "sync_records_of_scope": ["place"], "sync_forget": ["id"], "sync_erasure_count": ["place"],
        "sync_drop_blobs": ["digest"], "sync_lock_blobs": ["digest"], "sync_due_blobs": ["created", "digest"],
        "sync_move_blobs": ["digest"], "sync_take_blobs": ["digest"], "sync_keep_blobs": ["created"],
        "sync_blob_names": ["place", "collection"],
        "sync_blob_size": ["scope", "digest"], "sync_blob_part": ["digest", "start"],
    ]

    enum Filling: CaseIterable {
        case fresh
        case oneRowAnalyzed
        /// One row each, so that statistics show one row for each workspace.
        case manyWorkspacesAnalyzed
        case manyRowsNeverAnalyzed
        case manyRowsAnalyzed
        /// Vacuumed and not analyzed: autovacuum leaves tables so for a moment, or for longer.
        case someRowsVacuumed
        /// All records are of one scope, and nearly all else is of one user: statistics expect little of a search by
        /// these.
        case oneScopeAnalyzed
    }

    @Test(arguments: Filling.allCases)
    func `every search uses its key`(_ filling: Filling) async throws {
        try await TestSchema.with { schema in
            let running = try await RunningPostgresStore(schema, node: 1)
            let under = StoreUnderTest(store: running.store)
            let workspaces = filling == .fresh ? 0 : filling == .manyWorkspacesAnalyzed ? 300 : 1
            let count = filling.rowCount
            for place in 0..<workspaces {
                let workspace = WorkspaceID("w\(place)")
                let first = Int64(place) * count
                let row = ClientRow(id: .numbered(first), user: UserID("u\(place)"))
                for number in first..<first + count {
                    _ = try await under.store.register(.numbered(number), for: row.user, in: workspace, now: 1)
                }
                _ = try await under.store.follow(workspace, node: 2, now: 1_000)
                try await under.commit(in: workspace) { draft in
                    for number in first..<first + count {
                        let scope = filling == .oneScopeAnalyzed ? 0 : number / 20
                        draft.put(.numbered(number), in: ScopeID("s\(scope)"))
                        draft.grant(UserID("u\(number / 10)"), ScopeID("s\(number)"))
                    }
                    draft.settle(row, through: count)
                }
                for number in first..<first + min(count, 50) {
                    let blob = Blob.filled(with: UInt8(truncatingIfNeeded: number), count: Int(number) + 1)
                    _ = try await running.store.put(blob, in: .a, of: workspace, by: row.user, now: 1)
                }
            }
            if filling == .oneScopeAnalyzed {
                for rows in Self.manyOfOne { try await schema.sql(rows) }
            }
            if let upkeep = filling.upkeep {
                for table in [
                    "workspace", "batch", "record", "client", "member", "listener", "ledger", "blob",
                    "blob_part", "blob_scope", "blob_usage",
                ] {
                    try await schema.sql("\(upkeep) sync_\(table)")
                }
            }
            // Comparing the only row of a table with each element is right, and the table is soon analyzed again.
            let spared =
                filling == .oneRowAnalyzed ? ["sync_update_clients", "sync_end_members", "sync_saw_clients"] : []
            for (statement, types) in Self.statements where !spared.contains(statement.name) {
                let plan = try await Self.plan(of: statement, types, in: schema)
                for wrong in ["Seq Scan", "Join Filter", "Hash", "Merge", "Materialize", "Bitmap", "Memoize"] {
                    #expect(!plan.contains(wrong), "\(filling) \(statement.name)\n\(plan)")
                }
                let conditions = plan.split(separator: "\n").filter { $0.contains("Index Cond") }.joined()
                for column in Self.searched[statement.name] ?? [] {
                    #expect(conditions.contains("(\(column) "), "\(filling) \(statement.name)\n\(plan)")
                }
            }
            try await running.end()
        }
    }

    /// 60,000 more rows of each table, copied from an existing one.
    private static let manyOfOne = [
        """
        INSERT INTO sync_record (
            workspace, collection, id, scope, seq, born, deleted, author, created, updated, octets, body, place
        )
        SELECT r.workspace, r.collection, gen_random_uuid(), r.scope, 1000 + n, 1000 + n, false, r.author, r.created,
            r.updated, r.octets, r.body, r.place
        FROM (SELECT * FROM sync_record LIMIT 1) r, generate_series(1, 60000) n
        """,
        """
        INSERT INTO sync_batch (workspace, seq, low, nonce, time, epoch)
        SELECT b.workspace, 1000 + n, 1000 + n, n, b.time, b.epoch
        FROM (SELECT * FROM sync_batch LIMIT 1) b, generate_series(1, 60000) n
        """,
        """
        INSERT INTO sync_client (workspace, client, user_id, settled, acked, connection, registered)
        SELECT c.workspace, gen_random_uuid(), c.user_id, 0, 0, 0, c.registered
        FROM (SELECT * FROM sync_client LIMIT 1) c, generate_series(1, 60000) n
        """,
        """
        INSERT INTO sync_member (workspace, user_id, scope, role, since)
        SELECT m.workspace, m.user_id, 'more ' || n, m.role, m.since
        FROM (SELECT * FROM sync_member LIMIT 1) m, generate_series(1, 60000) n
        """,
        """
        INSERT INTO sync_blob_scope (workspace, scope, digest, author, created)
        SELECT b.workspace, b.scope, 'more ' || n, b.author, b.created
        FROM (SELECT * FROM sync_blob_scope LIMIT 1) b, generate_series(1, 60000) n
        """,
    ]

    /// - Parameter first: the SQL of the first value, which is the workspace.
    static func plan(
        of statement: PreparedStatement, _ types: [String], in schema: TestSchema, first: String = "NULL"
    ) async throws -> String {
        let nulls = ([first] + types.dropFirst().map { _ in "NULL" }).joined(separator: ", ")
        let begin = Transactions(TestSchema.options, generation: nil).beginWrite
        var configuration = try schema.configuration()
        configuration.connections = 1
        let pool = try PostgresPool(configuration: configuration, logger: TestSchema.logger)
        return try await withThrowingDiscardingTaskGroup { group in
            group.addTask { try await pool.run() }
            defer { pool.shutdown() }
            return try await pool.withConnection { connection in
                let results = try await connection.run(
                    begin + [
                        .simple("PREPARE probe (\(types.joined(separator: ", "))) AS \(statement.sql)"),
                        .simple("EXPLAIN (COSTS OFF) EXECUTE probe (\(nulls))"),
                    ])
                let plan = try #require(results.last)
                return try (0..<plan.rowCount).map { try plan.text($0, 0) }.joined(separator: "\n")
            }
        }
    }
}

extension PostgresPlanTests.Filling {
    /// The number of rows of each workspace.
    fileprivate var rowCount: Int64 {
        switch self {
        case .fresh, .oneRowAnalyzed, .manyWorkspacesAnalyzed: 1
        case .someRowsVacuumed: 250
        case .manyRowsNeverAnalyzed, .manyRowsAnalyzed, .oneScopeAnalyzed: 500
        }
    }

    /// The maintenance command that is run on each table.
    fileprivate var upkeep: String? {
        switch self {
        case .fresh, .manyRowsNeverAnalyzed: nil
        case .oneRowAnalyzed, .manyWorkspacesAnalyzed, .manyRowsAnalyzed, .oneScopeAnalyzed: "ANALYZE"
        case .someRowsVacuumed: "VACUUM"
        }
    }
}
