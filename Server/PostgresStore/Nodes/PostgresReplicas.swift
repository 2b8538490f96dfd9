package import Logging
package import TidemarkModel
package import TidemarkPostgres
package import TidemarkStore

/// PostgreSQL's report on its standbys.
package enum PostgresReplicas {
    static let heads = PreparedStatement(
        name: "sync_heads",
        sql: """
            SELECT x.workspace, \(RowReader.headColumns)
            FROM unnest($1) AS x (workspace)
            CROSS JOIN LATERAL (
                SELECT \(RowReader.headColumns)
                FROM sync_batch b
                WHERE b.workspace = x.workspace
                ORDER BY seq DESC
                LIMIT 1
            ) h
            """)

    static let report = report(standbys: "pg_stat_replication", slots: "pg_replication_slots")

    /// Positions are bytes since the beginning of the log. The log's name is the cluster's with the timeline, which
    /// changes with each promotion. A subscriber of a publication is no standby, and neither is a running base backup.
    ///
    /// - Parameters:
    ///   - standbys: a table with the columns of `pg_stat_replication`.
    ///   - slots: a table with those of `pg_replication_slots`.
    static func report(standbys: String, slots: String) -> PreparedStatement {
        PreparedStatement(
            name: "sync_standbys",
            sql: """
                SELECT
                    concat(
                        (SELECT system_identifier FROM pg_control_system()), ' ',
                        left(pg_walfile_name(pg_current_wal_insert_lsn()), 8)),
                    (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::bigint,
                    (
                        SELECT (r.flush_lsn - '0/0'::pg_lsn)::bigint
                        FROM \(standbys) r
                        LEFT JOIN \(slots) s ON s.active_pid = r.pid
                        WHERE r.flush_lsn IS NOT NULL AND s.slot_type IS DISTINCT FROM 'logical'
                        AND NOT coalesce(s.temporary AND starts_with(s.slot_name::text, 'pg_basebackup'), false)
                        ORDER BY r.flush_lsn DESC
                        OFFSET $1 - 1
                        LIMIT 1
                    ),
                    \(mayRead)
                """)
    }

    /// The right without which positions are NULL.
    private static let mayRead = "pg_has_role(current_user, 'pg_read_all_stats', 'USAGE')"

    static let missingRight = """
        the role may not read the standbys' positions (pg_stat_replication): GRANT pg_monitor TO it, or choose another \
        rule
        """

    static let spread = """
        this database is spread over the workers of a Citus, whose standbys cannot be seen from here: choose an age or \
        backup
        """

    /// Checks at a start whether the role may read the standbys' positions, and whether these cover all data.
    ///
    /// - Throws: `StoreError` with what to grant or to choose.
    package static func check(_ configuration: PostgresConfiguration, logger: Logger) async throws {
        try await PostgresStore.withConnection(configuration, called: "standbys", logger: logger) { connection in
            let answer = try await connection.run([
                .simple("SELECT \(mayRead), current_setting('citus.version', true) IS NULL")
            ]).first
            guard try answer?.bool(0, 1) == true else { throw StoreError(.unavailable, spread) }
            guard try answer?.bool(0, 0) == true else { throw StoreError(.unavailable, missingRight) }
        }
    }
}

extension PostgresStore: ReplicaLog {
    /// See `ReplicaLog`.
    package func replicas(
        confirming count: Int, heads workspaces: [WorkspaceID]
    ) async throws(StoreError) -> ReplicaReport {
        try await replicas(confirming: count, heads: workspaces, by: PostgresReplicas.report)
    }

    /// One round trip. The heads are of a snapshot that is older than the position: what it shows was committed, and so
    /// in the log, before the position was read.
    func replicas(
        confirming count: Int, heads workspaces: [WorkspaceID], by report: PreparedStatement
    ) async throws(StoreError) -> ReplicaReport {
        var (names, number) = (Parameters(), Parameters())
        names.add(workspaces.map(\.text))
        number.add(Int64(count))
        let results = try await read([Statement(PostgresReplicas.heads, names), Statement(report, number)])
        let heads = try results[0].all { (WorkspaceID(try $0.text()), try $0.head()) }
        let found = try results[1].first { row in
            (
                log: try row.text(), written: try row.integer(), confirmed: try row.optionalInteger(),
                mayRead: try row.bool()
            )
        }
        guard let found else { throw StoreError(.invariant, "PostgreSQL gave no answer about its standbys") }
        guard found.mayRead else { throw StoreError(.unavailable, PostgresReplicas.missingRight) }
        return ReplicaReport(
            log: found.log, written: found.written, confirmed: found.confirmed,
            heads: Dictionary(heads, uniquingKeysWith: { first, _ in first }))
    }
}
