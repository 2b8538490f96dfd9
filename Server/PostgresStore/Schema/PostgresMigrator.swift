import TidemarkModel
import TidemarkPostgres
import TidemarkStore

/// Carries out a plan on one connection, which nothing else uses.
struct PostgresMigrator {
    let connection: PostgresConnection
    let generations: [Generation]
    let options: PostgresStore.Options
    /// The prefix of the names of nodes' connections.
    let application: String
    let transactions: Transactions
    let isGentle: Bool
    let report: @Sendable (MigrationEvent) -> Void

    var own: Int { generations.last?.number ?? PostgresSchema.first }

    static let begin = Statement.simple("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE")

    /// Makes the tables of a new database, or checks that those of an old one serve this version.
    func prepare() async throws {
        // Nearly always there is nothing to do, and then a role with read rights is enough.
        if try await find() != nil { return }
        _ = try await connection.run([Self.begin, .simple(PostgresStore.lockSchema)])
        guard try await find() == nil else { return _ = try await connection.run([.simple("ROLLBACK")]) }
        _ = try await connection.run(Self.made(generations).map(Statement.simple) + [Transactions.commit])
    }

    /// Makes the tables of the first release and carries out the steps since then, in one transaction. There are no rows to fill in.
    static func made(_ generations: [Generation]) -> [String] {
        let steps = generations.flatMap { MigrationPlan.additions(of: $0) }
        let (first, own) = (PostgresSchema.first, generations.last?.number ?? PostgresSchema.first)
        return PostgresSchema.baseline
            + steps.flatMap { step in
                step.statements.map { $0.replacing(" CONCURRENTLY", with: "") } + [
                    "INSERT INTO sync_step (step, ended) VALUES ('\(step.id)', now())"
                ]
            } + ["INSERT INTO sync_fence (generation, oldest) VALUES (\(own), \(first))"]
    }

    /// Returns the generation that the database has reached; `nil` if it has no tables.
    private func find() async throws -> GenerationState? {
        let found = try await connection.run([
            .simple(
                // Asked in the catalog: a session remembers a missing name for longer than it waits for a lock.
                """
                SELECT current_setting('server_encoding'),
                    EXISTS (SELECT FROM pg_class WHERE relname = 'sync_fence' AND pg_table_is_visible(oid))
                """)
        ]).first
        guard let found else { return nil }
        guard try found.text(0, 0) == "UTF8" else {
            throw StoreError(.unavailable, "the database is not in UTF-8: make one with ENCODING 'UTF8'")
        }
        return try found.bool(0, 1) ? await state() : nil
    }

    /// - Throws: `unavailable` when the database no longer serves nodes of this version.
    func state() async throws -> GenerationState {
        let found = try await connection.run([
            .simple("SELECT generation, oldest FROM sync_fence"),
            .simple("SELECT step, position, rows, ended IS NOT NULL FROM sync_step"),
        ])
        // The state of an unfinished restore.
        guard found.count == 2, found[0].rowCount == 1 else { throw PostgresRestoring.unfinished }
        var state = GenerationState(
            generation: Int(try found[0].int32(0, 0)), oldest: Int(try found[0].int32(0, 1)))
        for (id, progress) in try found[1].all({
            (
                try $0.text(),
                GenerationState.Progress(
                    position: try $0.optionalText(), rows: try $0.integer(), isDone: try $0.bool())
            )
        }) { state.steps[id] = progress }
        if state.oldest == PostgresRestoring.generation, state.oldest > own { throw PostgresRestoring.unfinished }
        try state.check(first: PostgresSchema.first, own: own)
        return state
    }

    func plan(_ extent: MigrationPlan.Extent) async throws -> [PlanLine] {
        // The script of a new database leaves nothing to do.
        guard let state = try await find() else { return [] }
        var lines: [PlanLine] = []
        for step in MigrationPlan(generations, from: state, extent: extent).steps {
            lines.append(
                PlanLine(
                    step, rows: try await rows(step), done: state.steps[step.id]?.rows ?? 0, serves: state.oldest,
                    isShared: true))
        }
        return lines
    }

    /// The approximate count of a step's rows, from PostgreSQL's statistics.
    func rows(_ step: PlannedStep) async throws -> Int64? {
        guard let table = step.backfill?.table else { return nil }
        let sql = "SELECT greatest(reltuples, 0)::bigint FROM pg_class WHERE oid = to_regclass('\(table)')"
        return try await connection.run([.simple(sql)]).first?.first { try $0.integer() }
    }
}
