import Dispatch
import GRDB
import TidemarkLock
import TidemarkModel

/// Adds rows to the full-text indexes many at a time, and merges index parts in small steps while nothing is written,
/// so that no write has to.
///
/// SQLite adds new entries as a new part, and merges parts in the write that has made enough of them: after a catch-up,
/// every 64th write took 20 to 40 ms (`MERGING.md`). Merging changes no content: nothing is lost when it is
/// interrupted, and nothing waits for it to reach the disk.
final class SearchUpkeep: Sendable {
    /// The number of waiting rows of a collection at which a write adds them: the most that a search has to add first.
    static let waitingMax: Int64 = 512
    /// The same bound while nothing is written. Fewer rows keep waiting: a part of an index costs as much for one row
    /// as for many.
    static let waitingAtRest: Int64 = 128
    /// The most older rows that one write adds.
    private static let rowsPerWrite: Int64 = 4_096
    /// The rows of index content merged for each new page. SQLite uses the same number: each new page is merged into
    /// larger parts a few times.
    private static let rowsPerMergedPage = 4
    /// The pages that one merge step writes: one or two milliseconds, for which a write may have to wait.
    private static let pagesPerStep = 32
    /// The number of changed rows, including those of the index, after which a look is due.
    private static let changesMin = 1_000

    private enum Phase: Equatable { case idle, waiting, merging }

    private struct State {
        weak var writer: (any DatabaseWriter)?
        var phase = Phase.idle
        /// The changed rows since the last look.
        var changes = 0
        var writes = 0
        var steps = 0
        /// The changed rows since the waiting rows were last counted. It starts at the bound, because they were never
        /// counted.
        var uncounted = Int(waitingMax)
    }

    private let indexes: [SearchIndex]
    private let rest: Duration
    private let lane = DispatchQueue(label: "tidemark.search")
    private let state = Lock(State())

    /// - Parameter rest: the time without writes before the upkeep begins.
    init(_ schema: Schema, rest: Duration) {
        indexes = schema.collections.map { SearchIndex($0) }.filter(\.isWanted)
        self.rest = rest
    }

    /// The number of steps that merged something.
    var steps: Int { state.withLock { $0.steps } }
    /// True when there is nothing to do, as far as the upkeep knows.
    var isIdle: Bool { state.withLock { $0.phase == .idle } }

    /// Looks soon at the work that was left when the file was last used.
    func start(on writer: any DatabaseWriter) {
        guard !indexes.isEmpty else { return }
        state.withLock { state in
            state.writer = writer
            state.phase = .waiting
        }
        look(after: 0)
    }

    /// Stops the upkeep. No further step begins; one that is running ends first on the writer's queue.
    func stop() { state.withLock { $0.writer = nil } }

    /// Adds waiting rows if there are too many, inside the transaction that added them. Otherwise it costs little.
    ///
    /// - Parameter changes: the rows that the transaction changed, in all tables.
    func keepUp(_ db: Database, _ changes: Int) throws {
        let isDue = state.withLock { state in
            state.uncounted += changes
            guard !indexes.isEmpty, state.uncounted >= Int(Self.waitingMax) else { return false }
            state.uncounted = 0
            return true
        }
        guard isDue else { return }
        for index in indexes {
            let waiting = try index.waiting(db)
            guard waiting >= Self.waitingMax || waiting < 0 else { continue }
            // All rows of the transaction, so that the number of waiting rows never grows.
            let rows = try index.catchUp(rowsMax: Self.rowsPerWrite + Int64(changes), db)
            // A write that adds many rows at once also merges.
            guard changes >= Int(Self.waitingMax), rows > 0 else { continue }
            _ = try index.merge(pages: rows / Self.rowsPerMergedPage, db)
        }
    }

    /// Adds waiting rows, for a search.
    ///
    /// - Returns: false when no more rows wait.
    func index(_ db: Database) throws -> Bool {
        var isMore = false
        for index in indexes where try index.catchUp(rowsMax: Self.rowsPerWrite, db) >= Int(Self.rowsPerWrite) {
            isMore = true
        }
        return isMore
    }

    /// Empties the indexes, so that all rows wait; inside a transaction.
    func forget(_ db: Database) throws {
        state.withLock { $0.uncounted = Int(Self.waitingMax) }
        for index in indexes { try index.forget(db) }
    }

    /// - Parameter changes: the rows that a commit changed, in all tables.
    func wrote(_ changes: Int) {
        let writes = state.withLock { state -> Int? in
            state.writes += 1
            state.changes += changes
            guard state.phase == .idle, state.writer != nil, state.changes >= Self.changesMin else { return nil }
            state.phase = .waiting
            return state.writes
        }
        if let writes { look(after: writes) }
    }

    /// Begins when nothing was written for a while.
    private func look(after seen: Int) {
        lane.asyncAfter(deadline: .now() + rest / .seconds(1)) { [weak self] in
            guard let self else { return }
            let writes = state.withLock { $0.writes }
            if writes == seen { step(after: seen) } else { look(after: writes) }
        }
    }

    private func step(after seen: Int) {
        let writer = state.withLock { state in
            state.phase = state.writer == nil ? .idle : .merging
            state.changes = 0
            return state.writer
        }
        writer?.asyncWriteWithoutTransaction { [weak self] db in
            guard let self else { return }
            // The database was closed meanwhile, or has no room. Unmerged rows are found all the same, and the next
            // look tries again.
            let isMore = (try? improve(db)) ?? false
            let writes = state.withLock { state in
                if isMore { state.steps += 1 }
                state.phase = isMore ? .waiting : .idle
                return state.writes
            }
            guard isMore else { return }
            // Waiting writes come first.
            lane.async { [weak self] in writes == seen ? self?.step(after: seen) : self?.look(after: writes) }
        }
    }

    /// - Returns: false when there was nothing to add or to merge.
    private func improve(_ db: Database) throws -> Bool {
        for index in indexes where try index.waiting(db) >= Self.waitingAtRest {
            try db.inTransaction {
                try index.catchUp(rowsMax: Self.waitingAtRest, db)
                return .commit
            }
            return true
        }
        for index in indexes where try index.merge(pages: Self.pagesPerStep, db) { return true }
        return false
    }
}
