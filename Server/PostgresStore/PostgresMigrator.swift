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

    var own: Int { generations.last?.number ?? PostgresSchema.landed }

    static let begin = Statement.simple("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE")

    /// The tables that were found.
    private enum Found {
        case nothing
        /// The steps up to this one, from before generations.
        case before(Int)
        case generations(GenerationState)
    }

    /// Makes the tables of a new database, or brings those of a version without generations to the first generation.
    func prepare() async throws {
        // Nearly always there is nothing to do, and then a role with read rights is enough.
        if case .generations = try await find() { return }
        _ = try await connection.run([Self.begin, .simple(PostgresStore.lockSchema)])
        switch try await find() {
        case .generations: _ = try await connection.run([.simple("ROLLBACK")])
        case .nothing where own >= PostgresBaseline.generation: try await run(Self.baseline(generations))
        // An older node in a test.
        case .nothing: try await run([PostgresSchema.makeHistory] + adoption(from: 0))
        case .before(let version): try await run(adoption(from: version))
        }
    }

    private func run(_ statements: [String]) async throws {
        _ = try await connection.run(statements.map(Statement.simple) + [Transactions.commit])
    }

    /// Makes the tables of a new database.
    static func baseline(_ generations: [Generation]) -> [String] {
        let made = generations.filter { $0.number <= PostgresBaseline.generation }
        return PostgresBaseline.statements
            + made.flatMap { MigrationPlan.additions(of: $0) }.map {
                "INSERT INTO sync_step (step, ended) VALUES ('\($0.id)', now())"
            }
    }

    private func adoption(from version: Int) -> [String] {
        Self.adoption(from: version, generations, serving: (max(version, PostgresSchema.landed), PostgresSchema.landed))
    }

    /// Brings the tables of a version without generations to the first generation.
    ///
    /// - Parameter fence: the values of the fence from then on.
    static func adoption(
        from version: Int, _ generations: [Generation], serving fence: (generation: Int, oldest: Int)
    ) -> [String] {
        var statements: [String] = []
        for (index, step) in PostgresSchema.steps.enumerated().dropFirst(version) {
            statements += step.statements
            statements.append("INSERT INTO sync_migration (version, name) VALUES (\(index + 1), '\(step.name)')")
        }
        statements += FenceSQL.tables
        // Between two releases these two steps were noted in the older way.
        let early = max(version, PostgresSchema.landed)
        for generation in generations where generation.number <= early {
            guard let first = MigrationPlan.additions(of: generation).first else { continue }
            statements.append("INSERT INTO sync_step (step, ended) VALUES ('\(first.id)', now())")
        }
        let landed = PostgresSchema.landed
        return statements + [
            "DELETE FROM sync_migration WHERE version > \(landed)",
            "INSERT INTO sync_fence (generation, oldest) VALUES (\(fence.generation), \(fence.oldest))",
        ]
    }

    private func find() async throws -> Found {
        let found = try await connection.run([
            .simple(
                // Asked in the catalog: a session remembers a missing name for longer than it waits for a lock.
                """
                SELECT current_setting('server_encoding'),
                    NOT EXISTS (SELECT FROM pg_class WHERE relname = 'sync_migration' AND pg_table_is_visible(oid)),
                    NOT EXISTS (SELECT FROM pg_class WHERE relname = 'sync_fence' AND pg_table_is_visible(oid))
                """)
        ]).first
        guard let found else { return .nothing }
        guard try found.text(0, 0) == "UTF8" else {
            throw StoreError(.unavailable, "the database is not in UTF-8: make one with ENCODING 'UTF8'")
        }
        guard try found.bool(0, 2) else { return .generations(try await state()) }
        guard try !found.bool(0, 1) else { return .nothing }
        let sql = "SELECT coalesce(max(version), 0)::bigint FROM sync_migration"
        let version = try await connection.run([.simple(sql)]).first?.int64(0, 0) ?? 0
        // Two later steps were noted there between releases.
        guard version <= PostgresSchema.landed + 2 else {
            throw StoreError(
                .unavailable,
                "a later version of Tidemark (schema \(version), this one knows \(own)) has used the database:"
                    + " run that version, or restore a backup")
        }
        return .before(Int(version))
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
        guard state.oldest <= own else {
            if state.oldest == PostgresRestoring.generation { throw PostgresRestoring.unfinished }
            throw StoreError(
                .unavailable,
                "a later version of Tidemark has migrated this database (it serves generation \(state.oldest) and"
                    + " later, this version is of \(own)): run that version, or restore a backup",
                fault: .outdated)
        }
        return state
    }

    func plan(_ extent: MigrationPlan.Extent) async throws -> [PlanLine] {
        let state: GenerationState
        switch try await find() {
        case .generations(let found): state = found
        // The script of a new database leaves nothing to do.
        case .nothing: return []
        case .before(let version):
            let early = max(version, PostgresSchema.landed)
            var steps: [String: GenerationState.Progress] = [:]
            for generation in generations where generation.number <= early {
                guard let first = MigrationPlan.additions(of: generation).first else { continue }
                steps[first.id] = .init(isDone: true)
            }
            state = GenerationState(generation: early, oldest: PostgresSchema.landed, steps: steps)
        }
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
