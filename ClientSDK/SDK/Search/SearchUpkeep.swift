import Dispatch
import GRDB
import Synchronization
import TidemarkModel

/// Merges the parts of the full-text indexes in small steps while nobody writes, so that no write has to.
///
/// SQLite adds what it indexes as a new part and merges parts in the write that has made enough of them: after a catch-up
/// that took every 64th write 20 to 40 ms (`MERGING.md`). What is merged is what was there: nothing is lost when it is cut
/// off, and nothing waits for it to be on the disk.
final class SearchUpkeep: Sendable {
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
    }

    private let indexes: [SearchIndex]
    private let rest: Duration
    private let lane = DispatchQueue(label: "tidemark.search")
    private let state = Mutex(State())

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
            let isMore = (try? merge(db)) ?? false
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

    /// - Returns: false when there was nothing to merge.
    private func merge(_ db: Database) throws -> Bool {
        for index in indexes where try index.merge(pages: Self.pagesPerStep, db) { return true }
        return false
    }
}
