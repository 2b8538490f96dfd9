import Foundation
import GRDB
import TidemarkStore

/// Brings the tables of a file to this version's, or lists the steps. Calls run on the writing connection; their caller
/// decides what happens between two pages of a backfill.
struct EmbeddedMigrator {
    let generations: [Generation]
    /// Rows of a backfill in one transaction.
    let rowsMax: Int
    let report: @Sendable (MigrationEvent) -> Void

    private var own: Int { generations.last?.number ?? EmbeddedSchema.landed }

    /// Makes the tables of a new file, or brings those of a version without generations to the first generation.
    func prepare(_ pool: DatabasePool) throws {
        let (isNew, hasFence) = try pool.read { db in
            (try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_master") == 0, try db.tableExists("sync_fence"))
        }
        if hasFence { return _ = try pool.read(state) }
        if isNew, own >= EmbeddedBaseline.generation {
            let made = generations.filter { $0.number <= EmbeddedBaseline.generation }
            return try pool.write { try makeBaseline($0, made.flatMap { MigrationPlan.additions(of: $0) }) }
        }
        let migrator = EmbeddedSchema.migrator(report: report)
        let applied = try pool.read(migrator.appliedIdentifiers)
        guard applied.subtracting(EmbeddedSchema.names + [EmbeddedSchema.early]).isEmpty else {
            throw StoreError(.unavailable, "a later version wrote the file: run that version, or restore a backup")
        }
        try migrator.migrate(pool)
        try pool.write { try adopt($0, hasColumn: applied.contains(EmbeddedSchema.early)) }
    }

    private func makeBaseline(_ db: Database, _ steps: [PlannedStep]) throws {
        try db.execute(sql: EmbeddedBaseline.tables + EmbeddedBaseline.fence)
        // The table that the version before generations reads.
        try db.execute(sql: "CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY)")
        for name in EmbeddedSchema.names {
            try db.execute(sql: "INSERT INTO grdb_migrations (identifier) VALUES (?)", arguments: [name])
        }
        for step in steps { try note(step, db) }
        try setFence(EmbeddedBaseline.generation, db)
    }

    private func adopt(_ db: Database, hasColumn: Bool) throws {
        try db.execute(sql: EmbeddedBaseline.fence)
        guard hasColumn, let first = generations.first, let step = MigrationPlan.additions(of: first).first else {
            return try setFence(EmbeddedSchema.landed, db)
        }
        try note(step, db)
        try db.execute(
            sql: "DELETE FROM grdb_migrations WHERE identifier = ?", arguments: [EmbeddedSchema.early])
        try setFence(first.number, db)
    }

    private func setFence(_ generation: Int, _ db: Database) throws {
        try db.execute(
            sql: "INSERT INTO sync_fence (one, generation, oldest) VALUES (1, ?, ?)",
            arguments: [generation, EmbeddedSchema.landed])
    }

    /// - Throws: `unavailable` when the file no longer serves this version.
    func state(_ db: Database) throws -> GenerationState {
        guard let row = try Row.fetchOne(db, sql: "SELECT generation, oldest FROM sync_fence") else {
            throw StoreError(.unavailable, "sync_fence, the version mark of the file, is empty: restore a backup")
        }
        var state = GenerationState(generation: row["generation"], oldest: row["oldest"])
        for row in try Row.fetchAll(db, sql: "SELECT step, position, rows, done FROM sync_step") {
            let isDone: Int = row["done"]
            state.steps[row["step"]] = .init(position: row["position"], rows: row["rows"], isDone: isDone == 1)
        }
        guard state.oldest <= own else {
            throw StoreError(
                .unavailable,
                "a later version of Tidemark has migrated the file (it serves generation \(state.oldest) and later,"
                    + " this version is of \(own)): run that version, or restore a backup")
        }
        return state
    }

    /// The generation of a file of a version without generations, which is the number of its last step.
    ///
    /// - Throws: `unavailable` for a file without tables of Tidemark, or with those of an unknown version.
    func stateBeforeGenerations(_ db: Database) throws -> GenerationState {
        let applied = try EmbeddedSchema.migrator(report: { _ in }).appliedIdentifiers(db)
        guard !applied.isEmpty else {
            throw StoreError(.unavailable, "the file has no tables of Tidemark's: is its name right?")
        }
        guard applied.subtracting(EmbeddedSchema.names + [EmbeddedSchema.early]).isEmpty else {
            throw StoreError(.unavailable, "a later version wrote the file: run that version, or restore a backup")
        }
        return GenerationState(generation: applied.count, oldest: EmbeddedSchema.landed)
    }

    /// Returns the missing steps, in order.
    ///
    /// - Parameter afresh: a deletion repeats the backfills before it, since an earlier version may have written rows
    ///   after they were done.
    func missing(
        _ extent: MigrationPlan.Extent, afresh: Bool = false, _ db: Database
    ) throws -> [PlannedStep] {
        let known = try state(db)
        let steps = MigrationPlan(generations, from: known, extent: extent).steps
        let last = steps.last { if case .contract = $0.work { true } else { false } }
        guard afresh, let last else { return steps }
        try db.inTransaction(.immediate) {
            for step in MigrationPlan.backfills(generations, before: last, from: known) {
                try db.execute(sql: "DELETE FROM sync_step WHERE step = ?", arguments: [step.id])
            }
            return .commit
        }
        return MigrationPlan(generations, from: try state(db), extent: extent).steps
    }

    /// Makes a step, or one page of it, in one transaction of its own.
    ///
    /// - Returns: true when the step is done.
    func advance(_ step: PlannedStep, _ db: Database) throws -> Bool {
        var isOver = true
        try db.inTransaction(.immediate) {
            let state = try state(db)
            if state.steps[step.id]?.isDone == true { return .commit }
            switch step.work {
            case .step(.tables(let statements)):
                for sql in statements { try db.execute(sql: sql) }
                try note(step, db)
            case .step(.index(_, let sql)):
                try db.execute(sql: sql)
                try note(step, db)
            case .step(.backfill(let backfill)):
                isOver = try fill(step, backfill, state.steps[step.id], db)
            case .contract(let statements):
                try db.execute(
                    sql: "UPDATE sync_fence SET oldest = ?1 WHERE oldest < ?1", arguments: [step.generation])
                // The version before generations reads this, and no longer opens the file.
                try db.execute(
                    sql: "INSERT OR IGNORE INTO grdb_migrations (identifier) VALUES (?)", arguments: [step.id])
                for sql in statements { try db.execute(sql: sql) }
                try note(step, db)
            }
            try raise(db)
            return .commit
        }
        if isOver { report(.ended(step: step.id)) }
        return isOver
    }

    /// Fills one page from the stored position on.
    private func fill(
        _ step: PlannedStep, _ backfill: Generation.Backfill, _ progress: GenerationState.Progress?, _ db: Database
    ) throws -> Bool {
        let size = max(rowsMax, 1)
        let start = progress?.position ?? backfill.start
        let rows = try Row.fetchAll(db, sql: backfill.page, arguments: [start, size])
        for row in rows where row[3] as Bool {
            try db.execute(sql: backfill.fill, arguments: [row[0] as String, row[1] as String])
        }
        let count = (progress?.rows ?? 0) + Int64(rows.count)
        let isOver = rows.count < size
        let position = rows.last.map { $0[2] as String } ?? start
        try db.execute(
            sql: """
                INSERT INTO sync_step (step, position, rows, done) VALUES (?1, ?2, ?3, ?4)
                ON CONFLICT (step) DO UPDATE SET position = ?2, rows = ?3, done = ?4
                """, arguments: [step.id, position, count, isOver ? 1 : 0])
        report(.moved(step: step.id, rows: count, of: nil))
        return isOver
    }

    private func note(_ step: PlannedStep, _ db: Database) throws {
        try db.execute(
            sql: "INSERT INTO sync_step (step, done) VALUES (?, 1) ON CONFLICT (step) DO UPDATE SET done = 1",
            arguments: [step.id])
    }

    /// Raises the file's generation to the one whose steps are all done.
    private func raise(_ db: Database) throws {
        let reached = MigrationPlan.reached(generations, from: try state(db))
        try db.execute(
            sql: "UPDATE sync_fence SET generation = ?1 WHERE generation < ?1", arguments: [reached])
    }

    /// The steps of a file as lines; the rows are counted.
    func plan(_ extent: MigrationPlan.Extent, _ db: Database) throws -> [PlanLine] {
        guard try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_master") != 0 else { return [] }
        var found = GenerationState(generation: EmbeddedSchema.landed, oldest: EmbeddedSchema.landed)
        if try db.tableExists("sync_fence") {
            found = try state(db)
        } else {
            let applied = try EmbeddedSchema.migrator(report: { _ in }).appliedIdentifiers(db)
            if applied.contains(EmbeddedSchema.early), let first = generations.first,
                let step = MigrationPlan.additions(of: first).first
            {
                found.steps[step.id] = .init(isDone: true)
            }
        }
        return try MigrationPlan(generations, from: found, extent: extent).steps.map { step in
            let rows = try step.backfill.flatMap { try Int64.fetchOne(db, sql: "SELECT count(*) FROM \($0.table)") }
            return PlanLine(
                step, rows: rows, done: found.steps[step.id]?.rows ?? 0, serves: found.oldest, isShared: false)
        }
    }
}
