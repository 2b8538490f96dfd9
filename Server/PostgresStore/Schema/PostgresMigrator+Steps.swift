import TidemarkModel
import TidemarkPostgres
import TidemarkStore

extension PostgresMigrator {
    /// Makes the missing steps, in order.
    func migrate(_ extent: MigrationPlan.Extent) async throws {
        // Timeouts set on the database would otherwise interrupt a long first fill.
        _ = try await connection.run([.simple("SET statement_timeout = 0"), .simple("SET lock_timeout = 0")])
        let plan = MigrationPlan(generations, from: try await state(), extent: extent)
        for step in plan.steps {
            report(.began(step: step.id, rows: try await rows(step)))
            switch step.work {
            case .step(.tables(let statements)): try await makeTables(step, statements)
            case .step(.index(let name, let statement)): try await makeIndex(step, name, statement)
            case .step(.backfill(let backfill)): try await fill(step, backfill)
            case .contract(let statements): try await contract(step, statements)
            }
            report(.ended(step: step.id))
            try await raise()
        }
        // A kill may have happened in between.
        try await raise()
    }

    /// Raises the fence's generation to the one whose steps are all done.
    private func raise() async throws {
        let state = try await state()
        let reached = MigrationPlan.reached(generations, from: state)
        guard reached > state.generation else { return }
        let sql = "UPDATE sync_fence SET generation = \(reached) WHERE generation < \(reached)"
        _ = try await connection.run([.simple(sql)])
    }

    private func isDone(_ step: PlannedStep) async throws -> Bool { try await state().steps[step.id]?.isDone == true }

    private static func note(_ step: PlannedStep) -> Statement {
        .simple(
            """
            INSERT INTO sync_step (step, ended) VALUES ('\(step.id)', now())
            ON CONFLICT (step) DO UPDATE SET ended = now()
            """)
    }

    /// Repeats a step that gives way to holders of a lock, until it succeeds.
    private func givingWay(_ step: PlannedStep, _ body: () async throws -> Void) async throws {
        let deadline = ContinuousClock.now + options.migrationTimeout
        var pause = Duration.milliseconds(50)
        while true {
            do {
                return try await body()
            } catch PostgresError.server(let code, _) where ["55P03", "40P01"].contains(code) {
                _ = try await connection.run([.simple("ROLLBACK")])
                guard ContinuousClock.now < deadline else {
                    throw StoreError(
                        .unavailable,
                        "step '\(step.id)' needs the lock of a table, and a transaction has held it for longer than"
                            + " \(options.migrationTimeout.milliseconds / 1_000) s: end it (SELECT pid, xact_start FROM"
                            + " pg_stat_activity ORDER BY xact_start), and start again: it continues with this step")
                }
                report(.waiting(step: step.id, reason: "a transaction holds a lock that it needs"))
                try await ContinuousClock().sleep(for: pause)
                pause = min(pause * 2, .seconds(2))
            }
        }
    }

    private func makeTables(_ step: PlannedStep, _ statements: [String]) async throws {
        let patience = "SET LOCAL lock_timeout = \(max(options.tablesLockTimeout.milliseconds, 1))"
        try await givingWay(step) {
            _ = try await connection.run([Self.begin, .simple(patience), .simple(PostgresStore.lockSchema)])
            guard try await !isDone(step) else { return _ = try await connection.run([.simple("ROLLBACK")]) }
            _ = try await connection.run(
                statements.map(Statement.simple) + [Self.note(step), Transactions.commit])
        }
    }

    /// The lock for making an index, one at a time. After a kill of the process PostgreSQL goes on making its index,
    /// and keeps this lock until it has finished.
    private static let indexLock = "(1414087754, hashtext(current_schema()))"

    private func makeIndex(_ step: PlannedStep, _ name: String, _ statement: String) async throws {
        // Polled: a transaction that waited for the lock would be waited for by the one that makes the index.
        while try await connection.run([.simple("SELECT pg_try_advisory_lock\(Self.indexLock)")]).first?.bool(0, 0)
            != true
        {
            report(.waiting(step: step.id, reason: "another process makes an index"))
            try await ContinuousClock().sleep(for: .milliseconds(200))
        }
        if try await !isDone(step) {
            let find = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('\(name)')"
            var isThere = try await connection.run([.simple(find)]).first?.first { try $0.bool() }
            if isThere == false {
                _ = try await connection.run([.simple("DROP INDEX CONCURRENTLY \(name)")])
                isThere = nil
            }
            if isThere == nil { _ = try await connection.run([.simple(statement)]) }
            _ = try await connection.run([Self.note(step)])
        }
        _ = try await connection.run([.simple("SELECT pg_advisory_unlock\(Self.indexLock)")])
    }

    /// Raises the fence, and deletes what only nodes below it use.
    private func contract(_ step: PlannedStep, _ statements: [String]) async throws {
        let nodes = try await NodeConnections.older(than: step.generation, application: application, on: connection)
        guard nodes.isEmpty else {
            let list = nodes.map { "\($0.count) of generation \($0.generation)" }.joined(separator: ", ")
            throw StoreError(
                .unavailable,
                "'\(step.id)' deletes what nodes of earlier generations use, and such nodes are connected"
                    + " (connections: \(list)): stop them first")
        }
        try await givingWay(step) {
            _ = try await connection.run([
                Self.begin, .simple("SET LOCAL lock_timeout = 2000"), .simple(PostgresStore.lockSchema),
                .simple("UPDATE sync_fence SET oldest = \(step.generation) WHERE oldest < \(step.generation)"),
                Transactions.commit,
            ])
        }
        try await waitForOlderTransactions(step)
        // Older nodes may have written rows since the backfill.
        for earlier in MigrationPlan.backfills(generations, before: step, from: try await state()) {
            if let backfill = earlier.backfill { try await fill(earlier, backfill, isAnew: true) }
        }
        try await makeTables(step, statements)
    }

    /// Waits for the end of all transactions that passed the fence before it was raised.
    private func waitForOlderTransactions(_ step: PlannedStep) async throws {
        let list = """
            SELECT virtualtransaction FROM pg_locks
            WHERE locktype = 'virtualxid' AND granted AND pid <> pg_backend_pid()
            """
        var older = Set(try await connection.run([.simple(list)]).first?.all { try $0.text() } ?? [])
        while !older.isEmpty {
            report(.waiting(step: step.id, reason: "\(older.count) earlier transactions still run"))
            try await ContinuousClock().sleep(for: .milliseconds(100))
            older.formIntersection(try await connection.run([.simple(list)]).first?.all { try $0.text() } ?? [])
        }
    }
}
