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

    private var own: Int { generations.last?.number ?? EmbeddedSchema.first }

    /// Makes the tables of a new file, or checks that those of an old one serve this version.
    func prepare(_ pool: DatabasePool) throws {
        if try pool.read(Self.isNew) { try pool.write(make) } else { _ = try pool.read(state) }
    }

    private static func isNew(_ db: Database) throws -> Bool {
        try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_master") == 0
    }

    /// Makes the tables of the first release and carries out the steps since then. There are no rows to fill in.
    private func make(_ db: Database) throws {
        try db.execute(sql: EmbeddedSchema.tables + EmbeddedSchema.fence)
        for step in generations.flatMap({ MigrationPlan.additions(of: $0) }) {
            for sql in step.statements { try db.execute(sql: sql) }
            try note(step, db)
        }
        try db.execute(
            sql: "INSERT INTO sync_fence (one, generation, oldest) VALUES (1, ?, ?)",
            arguments: [own, EmbeddedSchema.first])
    }

    /// - Throws: `unavailable` when the file does not serve this version, or is not one of Tidemark's.
    func state(_ db: Database) throws -> GenerationState {
        guard try db.tableExists("sync_fence") else {
            throw StoreError(.unavailable, "the file has no tables of a release of Tidemark: is its name right?")
        }
        guard let row = try Row.fetchOne(db, sql: "SELECT generation, oldest FROM sync_fence") else {
            throw StoreError(.unavailable, "sync_fence, the version mark of the file, is empty: restore a backup")
        }
        var state = GenerationState(generation: row["generation"], oldest: row["oldest"])
        try state.check(first: EmbeddedSchema.first, own: own)
        for row in try Row.fetchAll(db, sql: "SELECT step, position, rows, done FROM sync_step") {
            let isDone: Int = row["done"]
            state.steps[row["step"]] = .init(position: row["position"], rows: row["rows"], isDone: isDone == 1)
        }
        return state
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
        guard try !Self.isNew(db) else { return [] }
        let found = try state(db)
        return try MigrationPlan(generations, from: found, extent: extent).steps.map { step in
            let rows = try step.backfill.flatMap { try Int64.fetchOne(db, sql: "SELECT count(*) FROM \($0.table)") }
            return PlanLine(
                step, rows: rows, done: found.steps[step.id]?.rows ?? 0, serves: found.oldest, isShared: false)
        }
    }
}
