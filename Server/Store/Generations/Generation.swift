/// One state of a store's tables, and how they come to it from the one before: see `GENERATIONS.md`.
///
/// A generation only adds: nodes of the generation before work on tables of this one. A released generation is never edited.
///
///     Generation(
///         9, "when clients were seen",
///         steps: [
///             Step("column", .tables(["ALTER TABLE sync_client ADD COLUMN seen bigint NOT NULL DEFAULT 0"])),
///             Step("those from before", .backfill(seen)),
///         ])
package struct Generation: Sendable {
    package let number: Int
    package let name: String
    package let steps: [Step]
    /// Statements that take away what only nodes of earlier generations use, each of which may be carried out twice
    /// (`DROP … IF EXISTS`). Only on demand.
    package let contract: [String]

    package init(_ number: Int, _ name: String, steps: [Step], contract: [String] = []) {
        self.number = number
        self.name = name
        self.steps = steps
        self.contract = contract
    }

    /// What is done at one go, or bit by bit.
    package struct Step: Sendable {
        /// The kinds of steps, as the table in `GENERATIONS.md` tells them apart.
        package enum Work: Sendable {
            /// Short statements, carried out in one transaction.
            case tables([String])
            /// The statement that makes the index of that name, outside of a transaction where it can be.
            case index(String, String)
            case backfill(Backfill)
        }

        package let name: String
        package let work: Work
        /// Nodes of this generation do not serve before it is done. Tables always are.
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
        /// Rows after a position, in the order of an index: the first parameter is that position, the second how many at most. Columns:
        /// workspace, key (both text), the position of this row (text), and whether there is something to fill in.
        package let page: String
        /// Fills in rows of the workspace that is the first parameter: on PostgreSQL those whose keys are in the array that
        /// is the second one, on SQLite the one whose key it is.
        package let fill: String

        package init(table: String, start: String, page: String, fill: String) {
            self.table = table
            self.start = start
            self.page = page
            self.fill = fill
        }
    }
}

/// How far a database has come.
package struct GenerationState: Sendable, Equatable {
    /// What is known of a step that has begun.
    package struct Progress: Sendable, Equatable {
        /// Where a backfill goes on.
        package var position: String?
        package var rows: Int64
        package var isDone: Bool

        package init(position: String? = nil, rows: Int64 = 0, isDone: Bool) {
            self.position = position
            self.rows = rows
            self.isDone = isDone
        }
    }

    /// All that nodes of this generation need is there.
    package var generation: Int
    /// Nodes of earlier generations are refused.
    package var oldest: Int
    /// By `PlannedStep.id`.
    package var steps: [String: Progress]

    package init(generation: Int, oldest: Int, steps: [String: Progress] = [:]) {
        self.generation = generation
        self.oldest = oldest
        self.steps = steps
    }
}
