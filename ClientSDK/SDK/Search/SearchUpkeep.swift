import Dispatch
import GRDB
import TidemarkLock
import TidemarkModel

/// Has the full-text indexes learn of rows many at a time, and merges their parts in small steps while nobody writes, so
/// that no write has to.
///
/// SQLite adds what it indexes as a new part and merges parts in the write that has made enough of them: after a catch-up
/// that took every 64th write 20 to 40 ms (`MERGING.md`). What is merged is what was there: nothing is lost when it is cut
/// off, and nothing waits for it to be on the disk.
final class SearchUpkeep: Sendable {
    /// Rows that wait for a collection's index before a write adds them: what a search may have to add first.
    static let waitingMax: Int64 = 512
    /// The same while nobody writes. Fewer stay as they are: each part of an index costs as much for one row as for many.
    static let waitingAtRest: Int64 = 128
    /// Rows that one write adds of those that were there before it.
    private static let rowsPerWrite: Int64 = 4_096
    /// As SQLite itself would: each page that is new is merged into larger parts a few times.
    private static let rowsPerMergedPage = 4
    /// Pages of the index that a step writes: one or two milliseconds, which a write may have to wait.
    private static let pagesPerStep = 32
    /// Changed rows, those of the index counted, after which it is worth a look.
    private static let changesMin = 1_000

    private enum Phase: Equatable { case idle, waiting, merging }

    private struct State {
        weak var writer: (any DatabaseWriter)?
        var phase = Phase.idle
        /// Since the last look.
        var changes = 0
        var writes = 0
        var steps = 0
        /// Since somebody counted what waits; so many at first, since nobody has.
        var uncounted = Int(waitingMax)
    }

    private let indexes: [SearchIndex]
    private let rest: Duration
    private let lane = DispatchQueue(label: "tidemark.search")
    private let state = Lock(State())

    /// - Parameter rest: how long nothing is written before it begins.
    init(_ schema: Schema, rest: Duration) {
        indexes = schema.collections.map { SearchIndex($0) }.filter(\.isWanted)
        self.rest = rest
    }

    /// Steps that merged something.
    var steps: Int { state.withLock { $0.steps } }
    /// Nothing is to be done, as far as it knows.
    var isIdle: Bool { state.withLock { $0.phase == .idle } }

    /// Looks soon at what was left when the file was used last.
    func start(on writer: any DatabaseWriter) {
        guard !indexes.isEmpty else { return }
        state.withLock { state in
            state.writer = writer
            state.phase = .waiting
        }
        look(after: 0)
    }

    /// No step begins after it; one that is under way ends first on the writer's queue.
    func stop() { state.withLock { $0.writer = nil } }

    /// Adds what waits where that is too much; inside the transaction that made it so. Costs little else.
    ///
    /// - Parameter changes: rows that the transaction changed, of all tables.
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
            // All that the transaction has written, so that what waits never grows.
            let rows = try index.catchUp(rowsMax: Self.rowsPerWrite + Int64(changes), db)
            // Who adds many rows at once pays for the larger parts too.
            guard changes >= Int(Self.waitingMax), rows > 0 else { continue }
            _ = try index.merge(pages: rows / Self.rowsPerMergedPage, db)
        }
    }

    /// Adds what waits, for a search.
    ///
    /// - Returns: false when nothing waits any more.
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

    /// - Parameter changes: rows that a commit changed, of all tables.
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

    /// Begins once nothing was written for a while.
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
            // Closed meanwhile, or no room: what is not merged is found all the same, and the next look tries again.
            let isMore = (try? improve(db)) ?? false
            let writes = state.withLock { state in
                if isMore { state.steps += 1 }
                state.phase = isMore ? .waiting : .idle
                return state.writes
            }
            guard isMore else { return }
            // Who waits for the writer comes first.
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
