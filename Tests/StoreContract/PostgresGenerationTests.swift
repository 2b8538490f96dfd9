import Foundation
import Testing
import TidemarkLock
import TidemarkModel
import TidemarkPostgres
import TidemarkStore

@testable import TidemarkPostgresStore

/// Tables that are migrated while nodes use them.
@Suite(.enabled(if: TestSchema.isGiven), .timeLimit(.minutes(5)))
struct PostgresGenerationTests {
    private static let own = PostgresExamination.own
    private static let first = PostgresSchema.first
    /// This version's generations and one more, with each kind of step.
    static let next =
        PostgresSchema.generations + [
            Generation(
                own + 1, "names of clients",
                steps: [
                    .init("column", .tables(["ALTER TABLE sync_client ADD COLUMN label text COLLATE \"C\""])),
                    .init(
                        "index",
                        .index(
                            "sync_client_label",
                            "CREATE INDEX CONCURRENTLY sync_client_label ON sync_client (label, client, workspace)")),
                    .init("fill", .backfill(labels)),
                ], contract: ["ALTER TABLE sync_client DROP COLUMN IF EXISTS seen"])
        ]

    private static let labels = Generation.Backfill(
        table: "sync_client", start: #"["00000000-0000-0000-0000-000000000000",""]"#,
        page: """
            SELECT c.workspace, c.client::text, json_build_array(c.client, c.workspace)::text, c.label IS NULL
            FROM sync_client c
            WHERE (c.client, c.workspace) > (($1::json ->> 0)::uuid, $1::json ->> 1)
            ORDER BY c.client, c.workspace
            LIMIT $2
            """,
        fill: """
            UPDATE sync_client SET label = user_id
            WHERE workspace = $1 AND client = ANY ($2::uuid[]) AND label IS NULL
            """)

    private func store(
        _ schema: TestSchema, _ generations: [Generation]? = nil, rows: Int = 500
    ) throws -> PostgresStore {
        var options = TestSchema.options
        options.backfillRows = rows
        return try PostgresStore(
            configuration: schema.configuration(), node: 1, options: options, generations: generations,
            logger: TestSchema.logger)
    }

    /// Runs `body` with a node of these generations on the present tables.
    private func withNode(
        _ schema: TestSchema, _ generations: [Generation]? = nil, _ body: (StoreUnderTest) async throws -> Void
    ) async throws {
        let node = try store(schema, generations)
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask { try await node.run() }
            defer { node.shutdown() }
            try await body(StoreUnderTest(store: node, blobs: node, workspace: WorkspaceID("one")))
        }
    }

    private func makeClients(_ count: Int64, _ schema: TestSchema) async throws {
        for workspace in ["one", "two"] {
            try await schema.sql(
                "INSERT INTO sync_workspace (workspace) VALUES ('\(workspace)') ON CONFLICT DO NOTHING")
            for number in 1...count {
                try await schema.sql(
                    """
                    INSERT INTO sync_client (workspace, client, user_id, settled, acked, connection, registered)
                    VALUES ('\(workspace)', '\(UniqueID.numbered(number))', 'ann', 0, 0, 0, \(number))
                    """)
            }
        }
    }

    @Test func `generations are numbered without a gap`() {
        #expect(PostgresSchema.generations.map(\.number) == Array((Self.first + 1)..<(Self.own + 1)))
    }

    @Test func `a new database is the same as one that was migrated through all generations`() async throws {
        try await TestSchema.with { new in
            try await store(new, Self.next).migrate(.all)
            try await TestSchema.with { old in
                try await store(old, []).migrate(.all)
                #expect(try await old.sql("SELECT generation::text FROM sync_fence") == ["\(Self.first)"])
                try await store(old, Self.next).migrate(.all)
                let (made, grown) = (try await PostgresCatalog.read(new), try await PostgresCatalog.read(old))
                #expect(made.filter { !grown.contains($0) } == [])
                #expect(grown.filter { !made.contains($0) } == [])
                #expect(made.count > 150)
            }
        }
    }

    @Test func `a migration that is cut at any request continues, and ends like one that was not`() async throws {
        try await TestSchema.with { whole in
            try await store(whole).migrate(.all)
            try await makeClients(5, whole)
            try await store(whole, Self.next, rows: 2).migrate(.all)
            let expected = try await PostgresCatalog.read(whole)
            try await TestSchema.with { schema in
                let folder = TemporaryFile().folder
                let wire = try LossyWire(in: folder, to: schema.configuration().target)
                defer { wire.end() }
                var wired = try PostgresConfiguration(
                    connectionString: schema.connectionString(keywords: ["host": folder.path, "port": "5432"]))
                wired.applicationName = schema.name
                var options = TestSchema.options
                options.backfillRows = 2
                try await store(schema).migrate(.all)
                try await makeClients(5, schema)
                var cuts = 0
                for passing in 0..<200 {
                    let fault = passing.isMultiple(of: 2) ? LossyWire.Fault.request : .answer
                    wire.fail(next: fault, after: passing)
                    let store = try PostgresStore(
                        configuration: wired, node: 1, options: options, generations: Self.next,
                        logger: TestSchema.logger)
                    do {
                        try await store.migrate(.all)
                        break
                    } catch {
                        cuts += 1
                        #expect((error as? StoreError)?.kind == .unavailable)
                    }
                }
                #expect(cuts > 5)
                #expect(try await PostgresCatalog.read(schema) == expected)
                #expect(try await schema.sql("SELECT DISTINCT label FROM sync_client") == ["ann"])
            }
        }
    }

    @Test func `a backfill that was cut continues at its last position`() async throws {
        try await TestSchema.with { schema in
            try await store(schema).migrate(.all)
            try await makeClients(5, schema)
            try await store(schema, Self.next).migrate(.needed)
            #expect(try await schema.sql("SELECT generation::text FROM sync_fence") == ["\(Self.own + 1)"])
            #expect(try await schema.sql("SELECT count(label)::text FROM sync_client") == ["0"])
            let seen = Heard<[Int64]>([])
            let stop = try store(schema, Self.next, rows: 2)
            let task = Task {
                try await stop.migrate(.all) { event in
                    guard case .moved(_, let rows, _) = event else { return }
                    seen.value.withLock { $0.append(rows) }
                    if rows >= 4 { withUnsafeCurrentTask { $0?.cancel() } }
                }
            }
            _ = await task.result
            #expect(seen.value.withLock { $0 } == [2, 4])
            try await store(schema, Self.next, rows: 2).migrate(.all) { event in
                if case .moved(_, let rows, _) = event { seen.value.withLock { $0.append(rows) } }
            }
            #expect(seen.value.withLock { $0 } == [2, 4, 6, 8, 10, 10])
            #expect(try await schema.sql("SELECT DISTINCT label FROM sync_client") == ["ann"])
        }
    }

    @Test func `a backfill skips a workspace with writes in progress, and comes back to it`() async throws {
        // Without the index, which is not made before each open transaction has ended.
        let next = Self.next.map {
            Generation($0.number, $0.name, steps: $0.steps.filter { $0.name != "index" }, contract: $0.contract)
        }
        try await TestSchema.with { schema in
            try await store(schema).migrate(.all)
            try await makeClients(3, schema)
            try await store(schema, next).migrate(.needed)
            let filled =
                "SELECT workspace || ' ' || count(*) FROM sync_client WHERE label IS NOT NULL GROUP BY workspace"
            try await withThrowingDiscardingTaskGroup { group in
                try await schema.whileLocked(where: "workspace = 'one'") { _ in
                    group.addTask { try await store(schema, next).migrate(.all) }
                    while try await schema.sql(filled).isEmpty {}
                    #expect(try await schema.sql(filled) == ["two 3"])
                }
            }
            #expect(try await schema.sql(filled).sorted() == ["one 3", "two 3"])
        }
    }

    @Test func `a node of the generation before works and starts, until the tables are contracted`() async throws {
        try await TestSchema.with { schema in
            try await store(schema).migrate(.all)
            try await withNode(schema) { older in
                try await older.commit { $0.put(.numbered(1)) }
                try await store(schema, Self.next).migrate(.all)
                #expect(
                    try await schema.sql("SELECT generation || ' ' || oldest FROM sync_fence")
                        == ["\(Self.own + 1) \(Self.first)"])
                try await older.commit { $0.put(.numbered(2)) }
                _ = try await older.register(.numbered(50), for: .ann)
                try await withNode(schema, Self.next) { newer in
                    try await newer.commit { $0.put(.numbered(3)) }
                    try await older.commit { $0.put(.numbered(4)) }
                }
                try await store(schema).migrate(.all)
                let error = await #expect(throws: StoreError.self) {
                    try await store(schema, Self.next).migrate(.contract)
                }
                #expect(error?.reason.contains("of generation \(Self.own)") == true, "\(error?.reason ?? "")")
                #expect(try await schema.sql("SELECT oldest::text FROM sync_fence") == ["\(Self.first)"])
            }
            let window = try await store(schema).windowOfAll()
            #expect(window == 4)
        }
    }

    @Test func `after contracting, an earlier node is refused in each of its calls before it writes`() async throws {
        try await TestSchema.with { schema in
            try await store(schema).migrate(.all)
            try await withNode(schema) { try await $0.commit { $0.put(.numbered(1)) } }
            // Written by the older node after the newer one has backfilled.
            try await store(schema, Self.next).migrate(.all)
            try await makeClients(2, schema)
            try await store(schema, Self.next).migrate(.contract)
            #expect(try await schema.sql("SELECT DISTINCT label FROM sync_client") == ["ann"])
            let seen =
                "SELECT count(*)::text FROM pg_attribute WHERE attrelid = 'sync_client'::regclass AND attname = 'seen'"
            #expect(try await schema.sql(seen) == ["0"])
            let before = try await schema.sql("SELECT count(*)::text FROM sync_batch")
            // It skips the check at its start, like a node that was started earlier.
            try await withNode(schema) { older in
                let workspace = older.workspace
                let calls: [() async throws -> Void] = [
                    { try await older.commit { $0.put(.numbered(2)) } },
                    { _ = try await older.store.read(ReadSet(), in: workspace) },
                    { _ = try await older.store.session(for: .ann, client: nil, in: workspace) },
                    { _ = try await older.register(.numbered(77), for: .ann) },
                    { _ = try await older.store.follow(workspace, node: 1, now: 1) },
                    { try await older.store.probe() },
                    {
                        _ = try await older.blobs.put(
                            Blob(digest: BlobDigest(sha256: Array(repeating: 1, count: 32)), bytes: [1]), in: .a,
                            of: workspace, by: .ann, now: 1)
                    },
                ]
                for call in calls {
                    let error = await #expect(throws: StoreError.self) { try await call() }
                    #expect(error?.kind == .unavailable)
                    #expect(error?.fault == .outdated)
                    #expect(error?.reason.contains("run that version") == true, "\(error?.reason ?? "")")
                }
                // An earlier plan is refused as well, and is known not to have been written.
                let head = try await withNewest(schema) { try await $0.read(ReadSet()).head }
                let planned = try older.create(9, after: head)
                let error = await #expect(throws: StoreError.self) { try await older.commitment(of: planned) }
                #expect(error?.fault == .outdated)
            }
            let start = await #expect(throws: StoreError.self) { try await store(schema).migrate() }
            #expect(start?.fault == .outdated)
            #expect(try await schema.sql("SELECT count(*)::text FROM sync_batch") == before)
            try await withNode(schema, Self.next) { try await $0.commit { $0.put(.numbered(3)) } }
        }
    }

    @Test func `rows that an older node adds before a backfill's stored position are filled in by contracting`()
        async throws
    {
        try await TestSchema.with { schema in
            try await store(schema).migrate(.all)
            try await makeClients(5, schema)
            try await store(schema, Self.next, rows: 2).migrate(.all)
            let unlabelled = "SELECT client::text FROM sync_client WHERE label IS NULL ORDER BY client"
            #expect(try await schema.sql(unlabelled).isEmpty)
            // The first of all keys, one in the middle, and the last.
            let late = [UniqueID(high: 0, low: 1), UniqueID(high: 1 << 62, low: 0), UniqueID(high: .max, low: .max)]
            for id in late {
                try await schema.sql(
                    """
                    INSERT INTO sync_client (workspace, client, user_id, settled, acked, connection, registered)
                    VALUES ('one', '\(id)', 'ann', 0, 0, 0, 1)
                    """)
            }
            #expect(try await schema.sql(unlabelled) == late.map(\.description))
            try await store(schema, Self.next, rows: 2).migrate(.contract)
            #expect(try await schema.sql(unlabelled).isEmpty)
            #expect(try await schema.sql("SELECT count(*)::text FROM sync_client") == ["13"])
        }
    }

    private func withNewest<Value>(
        _ schema: TestSchema, _ body: (StoreUnderTest) async throws -> Value
    ) async throws -> Value {
        var value: Value?
        try await withNode(schema, Self.next) { value = try await body($0) }
        return try #require(value)
    }

    @Test func `a node whose database went back to the generation before reports it`() async throws {
        try await TestSchema.with { schema in
            try await store(schema, Self.next).migrate(.all)
            try await schema.sql("UPDATE sync_fence SET generation = \(Self.own)")
            try await withNode(schema, Self.next) { node in
                let error = await #expect(throws: StoreError.self) { try await node.commit { $0.skip() } }
                #expect(
                    error?.reason.contains("at generation \(Self.own), and this node is of \(Self.own + 1)") == true)
            }
            try await store(schema, Self.next).migrate()
            try await withNode(schema, Self.next) { try await $0.commit { $0.skip() } }
        }
    }

    @Test func `a change of a table gives way to lock holders, and to those behind it`() async throws {
        try await TestSchema.with { schema in
            try await store(schema).migrate(.all)
            try await makeClients(1, schema)
            let waits = Heard(0)
            try await withThrowingDiscardingTaskGroup { group in
                try await schema.whileRunning(["LOCK TABLE sync_client IN ROW EXCLUSIVE MODE"]) { _ in
                    group.addTask {
                        try await store(schema, Self.next).migrate(.needed) { event in
                            if case .waiting = event { waits.value.withLock { $0 += 1 } }
                        }
                    }
                    while waits.value.withLock({ $0 }) < 2 {
                        // This query is behind it in the queue, each time.
                        let count = try await schema.sql("SELECT count(*)::text FROM sync_client")
                        #expect(count == ["2"])
                    }
                }
            }
            #expect(try await schema.sql("SELECT count(label)::text FROM sync_client") == ["0"])
        }
    }

    @Test func `an index that was half built is built again`() async throws {
        try await TestSchema.with { schema in
            try await store(schema).migrate(.all)
            try await makeClients(2, schema)
            try await store(schema, Self.next).migrate(.needed)
            // A killed server leaves it like this: with its name, and not valid.
            await #expect(throws: (any Error).self) {
                try await schema.sql(
                    "CREATE UNIQUE INDEX CONCURRENTLY sync_client_label ON sync_client (workspace)")
            }
            let valid = "SELECT indisvalid::text FROM pg_index WHERE indexrelid = 'sync_client_label'::regclass"
            #expect(try await schema.sql(valid) == ["false"])
            try await store(schema, Self.next).migrate(.all)
            #expect(try await schema.sql(valid) == ["true"])
            let keys =
                "SELECT count(*)::text FROM pg_index WHERE indexrelid = 'sync_client_label'::regclass AND indnatts = 3"
            #expect(try await schema.sql(keys) == ["1"])
        }
    }

    /// Rows are read in the order of an index, from the position on: otherwise each page would read the whole table.
    @Test func `each backfill reads its pages by a key`() async throws {
        try await TestSchema.with { schema in
            try await store(schema, Self.next).migrate(.all)
            let backfills = Self.next.flatMap { MigrationPlan.additions(of: $0) }.compactMap(
                \.backfill)
            #expect(!backfills.isEmpty)
            for backfill in backfills {
                let page = PreparedStatement(name: "page", sql: backfill.page)
                let plan = try await PostgresPlanTests.plan(of: page, ["text", "bigint"], in: schema)
                #expect(plan.contains("Index Cond") && !plan.contains("Sort") && !plan.contains("Filter"), "\(plan)")
            }
        }
    }

    @Test func `a plan describes each step, and changes nothing`() async throws {
        try await TestSchema.with { schema in
            #expect(try await store(schema).migrationPlan(.all).isEmpty)
            #expect(try await schema.sql("SELECT coalesce(to_regclass('sync_fence')::text, 'none')") == ["none"])
            try await store(schema).migrate(.all)
            try await makeClients(2, schema)
            try await schema.sql("ANALYZE sync_client")
            let lines = try await store(schema, Self.next).migrationPlan(.contract)
            #expect(lines.map(\.step) == ["column", "index", "fill", "contract"].map { "\(Self.own + 1) \($0)" })
            #expect(lines.map(\.rows) == [nil, nil, 4, nil])
            #expect(
                lines.map(\.serves) == Array(repeating: "generation \(Self.first) and later", count: 3) + [
                    "generation \(Self.own + 1) and later"
                ]
            )
            #expect(try await schema.sql("SELECT generation::text FROM sync_fence") == ["\(Self.own)"])
        }
    }
}

/// The events of a migration.
private final class Heard<Value: Sendable>: Sendable {
    let value: Lock<Value>

    init(_ value: Value) { self.value = Lock(value) }
}

extension PostgresStore {
    /// The number of records in the workspace of these tests.
    fileprivate func windowOfAll() async throws -> Int {
        try await withThrowingTaskGroup { group in
            group.addTask { try await self.run() }
            let window = try await window(scopes: [.a], after: 0, span: 99, in: WorkspaceID("one"))
            shutdown()
            try await group.waitForAll()
            return window.records.count
        }
    }
}
