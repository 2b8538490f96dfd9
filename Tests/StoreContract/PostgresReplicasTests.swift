import Foundation
import Testing
import TidemarkModel
import TidemarkPostgres
import TidemarkStore

@testable import TidemarkPostgresStore

/// PostgreSQL's report on its standbys. There are none here: the tests substitute the rows that it would return.
/// `Tests/Benchmarks/failover.sh` uses real ones.
@Suite(.enabled(if: TestSchema.isGiven), .onOneMachine("standbys of workers are not seen"), .timeLimit(.minutes(5)))
struct PostgresReplicasTests {
    private static let workspace = WorkspaceID("w")

    /// The report with the given standbys.
    private static func report(in schema: TestSchema, _ standbys: String, slots: String = "") async throws
        -> PreparedStatement
    {
        try await schema.sql(
            "CREATE TABLE standbys (pid int, application_name text, flush_lsn pg_lsn)",
            "CREATE TABLE slots (active_pid int, slot_name name, slot_type text, temporary bool)",
            "INSERT INTO standbys VALUES \(standbys)")
        if !slots.isEmpty { try await schema.sql("INSERT INTO slots VALUES \(slots)") }
        return PostgresReplicas.report(standbys: "standbys", slots: "slots")
    }

    private static func confirmed(
        _ count: Int, _ standbys: String, slots: String = ""
    ) async throws -> Int64? {
        var found: Int64?
        try await TestSchema.with { schema in
            let running = try await RunningPostgresStore(schema, node: 1)
            let report = try await report(in: schema, standbys, slots: slots)
            found = try await running.store.replicas(confirming: count, heads: [workspace], by: report).confirmed
            try await running.end()
        }
        return found
    }

    @Test(arguments: [(1, 0x1_0000_0030), (2, 0x20), (3, 0x10), (4, nil)] as [(Int, Int64?)])
    func `so many standbys have the log on disk up to the least of the best of them`(_ count: Int, _ position: Int64?)
        async throws
    {
        let standbys = "(1, 'a', '0/20'), (2, 'b', '1/30'), (3, 'c', NULL), (4, 'd', '0/10')"
        #expect(try await Self.confirmed(count, standbys) == position)
    }

    @Test func `subscribers and base backups in progress are no standbys`() async throws {
        let standbys =
            "(1, 'a', '0/20'), (2, 'subscription', '0/90'), (3, 'pg_basebackup', '0/80'), (4, 'own slot', '0/10')"
        let slots = """
            (2, 'subscription', 'logical', false), (3, 'pg_basebackup_77', 'physical', true),
            (4, 'pg_walreceiver_77', 'physical', true)
            """
        #expect(try await Self.confirmed(1, standbys, slots: slots) == 0x20)
        #expect(try await Self.confirmed(2, standbys, slots: slots) == 0x10)
    }

    @Test func `a report has the ends of the orders, and a position of the log behind them`() async throws {
        try await TestSchema.with { schema in
            let running = try await RunningPostgresStore(schema, node: 1)
            let store = running.store
            let empty = try await store.replicas(confirming: 1, heads: [Self.workspace])
            #expect(empty.heads == [:] && empty.confirmed == nil)
            let before = try await schema.sql("SELECT (pg_current_wal_insert_lsn() - '0/0')::bigint::text")
            try await schema.sql(
                "INSERT INTO sync_workspace (workspace) VALUES ('w')",
                """
                INSERT INTO sync_batch (workspace, seq, low, nonce, time, epoch)
                VALUES ('w', 4, 1, 7, 100, 3), ('w', 6, 5, 8, 200, 3), ('other', 9, 1, 9, 300, 1)
                """)
            let after = try await store.replicas(confirming: 1, heads: [Self.workspace, WorkspaceID("none")])
            #expect(after.heads == [Self.workspace: Head(seq: 6, nonce: 8, time: 200, epoch: 3)])
            #expect(after.written > (try #require(Int64(before[0]))))
            #expect(after.log == empty.log)
            #expect(after.log.hasSuffix(" 00000001"), "the timeline of a cluster that was never promoted: \(after.log)")
            try await running.end()
        }
    }

    @Test func `a role that may not read the standbys' positions is told what to grant`() async throws {
        try await TestSchema.with { schema in
            let role = "reader_\(schema.name)"
            let running = try await RunningPostgresStore(schema, node: 1)
            try await schema.sql(
                "CREATE ROLE \(role)", "GRANT USAGE ON SCHEMA \(schema.name) TO \(role)",
                "GRANT SELECT ON ALL TABLES IN SCHEMA \(schema.name) TO \(role)")
            let poor = try schema.configuration(["role": role])
            await #expect(throws: StoreError(.unavailable, PostgresReplicas.missingRight)) {
                try await PostgresReplicas.check(poor, logger: TestSchema.logger)
            }
            let store = try PostgresStore(
                configuration: poor, node: 2, options: TestSchema.options, logger: TestSchema.logger)
            async let run: Void = store.run()
            await #expect(throws: StoreError(.unavailable, PostgresReplicas.missingRight)) {
                _ = try await store.replicas(confirming: 1, heads: [Self.workspace])
            }
            store.shutdown()
            try await run
            try await schema.sql("GRANT pg_monitor TO \(role)")
            try await PostgresReplicas.check(poor, logger: TestSchema.logger)
            try await running.end()
            try await schema.sql("DROP OWNED BY \(role)", "DROP ROLE \(role)")
        }
    }
}
