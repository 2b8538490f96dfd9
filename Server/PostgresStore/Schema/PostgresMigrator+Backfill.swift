import TidemarkModel
import TidemarkPostgres
import TidemarkStore

extension PostgresMigrator {
    private struct Row {
        var workspace: String
        var key: String
        var position: String
        var isDue: Bool
    }

    /// Fills the rows of a table from the stored position on, some hundred at a time, each workspace under its lock.
    /// Writers in it wait for that long; this never makes them wait while it waits itself.
    ///
    /// After a kill, the rows since the last stored position are filled again. Two nodes at once fill the same rows
    /// twice.
    ///
    /// - Parameter isAnew: starts from the beginning, even if it was done before.
    func fill(_ step: PlannedStep, _ backfill: Generation.Backfill, isAnew: Bool = false) async throws {
        let total = try await rows(step)
        let progress = isAnew ? nil : try await state().steps[step.id]
        var position = progress?.position ?? backfill.start
        var count = progress?.rows ?? 0
        let page = PreparedStatement(name: "sync_page_\(step.id)", sql: backfill.page)
        let size = max(options.backfillRows, 1)
        while true {
            let start = ContinuousClock.now
            // A later version may have raised the fence.
            _ = try await state()
            var parameters = Parameters()
            parameters.add(text: position)
            parameters.add(Int64(size))
            let found = try await connection.run(
                transactions.beginRead + [Statement(page, parameters), Transactions.commit])
            let rows =
                try found.dropLast().last?.all {
                    Row(
                        workspace: try $0.text(), key: try $0.text(), position: try $0.text(), isDue: try $0.bool())
                } ?? []
            try await fill(rows.filter(\.isDue), step, backfill)
            position = rows.last?.position ?? position
            count += Int64(rows.count)
            let isOver = rows.count < size
            try await store(step, position, count, isOver: isOver)
            report(.moved(step: step.id, rows: count, of: total))
            if isOver { return }
            if isGentle { try await ContinuousClock().sleep(for: ContinuousClock.now - start) }
        }
    }

    private func store(_ step: PlannedStep, _ position: String, _ count: Int64, isOver: Bool) async throws {
        var parameters = Parameters()
        parameters.add(text: step.id)
        parameters.add(text: position)
        parameters.add(count)
        parameters.add(isOver)
        _ = try await connection.run([Statement(Self.store, parameters)])
    }

    private static let store = PreparedStatement(
        name: "sync_store_position",
        sql: """
            INSERT INTO sync_step (step, position, rows, ended)
            VALUES ($1, $2, $3, CASE WHEN $4 THEN now() END)
            ON CONFLICT (step) DO UPDATE
            SET position = EXCLUDED.position, rows = EXCLUDED.rows, ended = coalesce(sync_step.ended, EXCLUDED.ended)
            """)

    private static let lockIdle = PreparedStatement(
        name: "sync_lock_idle",
        sql: """
            SELECT workspace
            FROM sync_workspace
            WHERE workspace = ANY ($1)
            ORDER BY workspace
            FOR NO KEY UPDATE SKIP LOCKED
            """)

    private static let lock = PreparedStatement(
        name: "sync_lock_one",
        sql: """
            SELECT workspace
            FROM sync_workspace
            WHERE workspace = $1
            FOR NO KEY UPDATE
            """)

    /// Whether the tables are spread over the workers of a Citus, which locks rows of one worker at a time.
    private var isSpread: Bool {
        get async throws {
            let ask = Statement.simple("SELECT current_setting('citus.version', true) IS NOT NULL")
            return try await connection.run([ask]).first?.first { try $0.bool() } ?? false
        }
    }

    /// Fills the rows of idle workspaces together, since a commit costs more than a row; then the others one by one.
    private func fill(_ rows: [Row], _ step: PlannedStep, _ backfill: Generation.Backfill) async throws {
        var open = Dictionary(grouping: rows, by: \.workspace)
        guard !open.isEmpty else { return }
        if try await !isSpread {
            var names = Parameters()
            names.addTextArray(Array(open.keys))
            let filled = try await fill(open, locking: Statement(Self.lockIdle, names), step, backfill)
            for workspace in filled { open[workspace] = nil }
        }
        for (workspace, rows) in open.sorted(by: { $0.key < $1.key }) {
            try await givingWay(to: step) {
                // A workspace that was deleted meanwhile has no rows left.
                let lock = Statement(Self.lock, WorkspaceID(workspace))
                _ = try await fill([workspace: rows], locking: lock, step, backfill)
            }
        }
    }

    /// - Returns: the workspaces that were locked and filled.
    private func fill(
        _ rows: [String: [Row]], locking lock: Statement, _ step: PlannedStep, _ backfill: Generation.Backfill
    ) async throws -> [String] {
        let locked = try await connection.run(transactions.beginWrite + [lock]).last?.all { try $0.text() } ?? []
        let fill = PreparedStatement(name: "sync_fill_\(step.id)", sql: backfill.fill)
        let fills = locked.map { workspace in
            Statement(fill, WorkspaceID(workspace)) { $0.addTextArray((rows[workspace] ?? []).map(\.key)) }
        }
        _ = try await connection.run(fills + [Transactions.commit])
        return locked
    }

    /// Repeats `body` while a workspace's lock is not granted in time.
    private func givingWay(to step: PlannedStep, _ body: () async throws -> Void) async throws {
        while true {
            do {
                return try await body()
            } catch PostgresError.server(sqlState: "55P03", _) {
                _ = try await connection.run([.simple("ROLLBACK")])
                report(.waiting(step: step.id, reason: "a workspace is being written"))
            }
        }
    }
}
