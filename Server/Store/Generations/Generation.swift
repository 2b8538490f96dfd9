/// One state of a store's tables, and the steps that lead to it from the one before: see `GENERATIONS.md`.
///
/// A generation only adds: nodes of the generation before work on tables of this one. A released generation is never edited.
///
///     Generation(
///         20, "when clients were seen",
///         steps: [
///             Step("column", .tables(["ALTER TABLE sync_client ADD COLUMN seen bigint NOT NULL DEFAULT 0"])),
///             Step("clients from before", .backfill(seen)),
///         ])
package struct Generation: Sendable {
    package let number: Int
    package let name: String
    package let steps: [Step]
    /// Statements that remove what only nodes of earlier generations use. Each may be executed twice (`DROP … IF
    /// EXISTS`). They run only on demand.
    package let contract: [String]

    package init(_ number: Int, _ name: String, steps: [Step], contract: [String] = []) {
        self.number = number
        self.name = name
        self.steps = steps
        self.contract = contract
    }

    /// A step of a migration, done at once or row by row.
    package struct Step: Sendable {
        /// The kinds of steps, as the table in `GENERATIONS.md` defines them.
        package enum Work: Sendable {
            /// Short statements, carried out in one transaction.
            case tables([String])
            /// The statement that creates the index of that name, outside of a transaction where possible.
            case index(String, String)
            case backfill(Backfill)
        }

        package let name: String
        package let work: Work
        /// True when nodes of this generation do not serve before the step is done. Steps of tables always are.
        package let isNeeded: Bool

        package init(_ name: String, _ work: Work, isNeeded: Bool = false) {
            self.name = name
            self.work = work
            self.isNeeded = if case .tables = work { true } else { isNeeded }
        }
    }

    /// Fills in the rows of a table in the order of a key, some at a time. Filling in a row twice changes nothing.
    package struct Backfill: Sendable {
        package let table: String
        /// The position before the first row.
        package let start: String
        /// Selects rows after a position, in the order of an index. The first parameter is that position, the second
        /// the maximum number of rows. Columns: workspace, key (both text), the position of this row (text), and
        /// whether the row needs filling in.
        package let page: String
        /// Fills in rows of the workspace in the first parameter. On PostgreSQL the second parameter is an array of
        /// keys, on SQLite one key.
        package let fill: String

        package init(table: String, start: String, page: String, fill: String) {
            self.table = table
            self.start = start
            self.page = page
            self.fill = fill
        }
    }
}

/// The generation that a database has reached.
package struct GenerationState: Sendable, Equatable {
    /// The progress of a step that has begun.
    package struct Progress: Sendable, Equatable {
        /// The position from which a backfill continues.
        package var position: String?
        package var rows: Int64
        package var isDone: Bool

        package init(position: String? = nil, rows: Int64 = 0, isDone: Bool) {
            self.position = position
            self.rows = rows
            self.isDone = isDone
        }
    }

    /// The newest generation whose needed steps are all done.
    package var generation: Int
    /// The oldest generation whose nodes are served.
    package var oldest: Int
    /// The progress of each step, by `PlannedStep.id`.
    package var steps: [String: Progress]

    package init(generation: Int, oldest: Int, steps: [String: Progress] = [:]) {
        self.generation = generation
        self.oldest = oldest
        self.steps = steps
    }
    /// Checks that a version works on these tables.
    ///
    /// - Parameters:
    ///   - first: the generation of the first release.
    ///   - own: the newest generation that the version knows.
    /// - Throws: `StoreError` of kind `unavailable` and fault `outdated`, with the remedy.
    package func check(first: Int, own: Int) throws(StoreError) {
        guard generation >= first else {
            throw StoreError(
                .unavailable,
                "a version before the first release has made the tables (they are of generation \(generation), and those"
                    + " of the first release of \(first)): no release reads them, begin with an empty database",
                fault: .outdated)
        }
        guard oldest <= own else {
            throw StoreError(
                .unavailable,
                "a later version of Tidemark has migrated this database (it serves generation \(oldest) and later, this"
                    + " version is of \(own)): run that version, or restore a backup",
                fault: .outdated)
        }
    }
}
