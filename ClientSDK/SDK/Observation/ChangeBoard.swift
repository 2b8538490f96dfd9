import GRDB
import TidemarkLock

/// Tells observations which commits concern what they have read.
///
/// SQLite tells of changes as they are made, before they are there for others: they count once they are committed. Where it
/// is not sure, an observation is told: one commit too many costs a reading, one too few is a screen that stays wrong.
/// `PULL.md` says why observations read by themselves.
final class ChangeBoard: TransactionObserver, Sendable {
    private struct Watch {
        let origin: ObservationOrigin
        /// What the last reading looked at.
        var region = DatabaseRegion()
        /// The transaction that is under way, if there is one, changes the region, or may do so.
        var isTouched = false
        /// Something was committed since the region was read, or nothing was read yet.
        var isDirty = true
        var waiter: CheckedContinuation<Void, Never>?
    }

    private struct State {
        var watches: [Int: Watch] = [:]
        var nextID = 0
        var commits = 0
        /// What GRDB asked about last and was told yes.
        var asked: DatabaseEventKind?
    }

    private let state = Lock(State())

    /// A new observation, which has read nothing yet.
    func watch(_ origin: ObservationOrigin = ObservationOrigin("")) -> ChangeWatch {
        state.withLock { state in
            state.nextID += 1
            state.watches[state.nextID] = Watch(origin: origin)
            return ChangeWatch(board: self, id: state.nextID)
        }
    }

    /// How many observations wait for a change.
    var waiting: Int { state.withLock { $0.watches.values.count { $0.waiter != nil } } }

    /// Of each observation, what it reads and where it began.
    var origins: [ObservationOrigin] { state.withLock { $0.watches.values.map(\.origin) } }

    // MARK: The observation's side

    /// True when there is something to read; else the continuation is resumed then, or by `wake`.
    fileprivate func isDirty(_ id: Int, orResume waiter: CheckedContinuation<Void, Never>? = nil) -> Bool {
        state.withLock { state in
            guard let watch = state.watches[id], !watch.isDirty, !Task.isCancelled else { return true }
            if let waiter { state.watches[id]?.waiter = waiter }
            return false
        }
    }

    fileprivate func wake(_ id: Int) {
        let waiter = state.withLock { state in
            defer { state.watches[id]?.waiter = nil }
            return state.watches[id]?.waiter
        }
        waiter?.resume()
    }

    /// Call it before reading: what is committed from here on may be missing in what is read.
    fileprivate func willRead(_ id: Int) -> Int {
        state.withLock { state in
            state.watches[id]?.isDirty = false
            return state.commits
        }
    }

    /// - Parameter commits: what `willRead` gave.
    fileprivate func didRead(_ region: DatabaseRegion, _ id: Int, since commits: Int) {
        state.withLock { state in
            guard let watch = state.watches[id], watch.region != region else { return }
            state.watches[id]?.region = region
            // Nobody kept an eye on what is read for the first time.
            guard watch.region.union(region) != watch.region else { return }
            state.watches[id]?.isTouched = true
            if state.commits != commits { state.watches[id]?.isDirty = true }
        }
    }

    fileprivate func remove(_ id: Int) { state.withLock { _ = $0.watches.removeValue(forKey: id) } }

    // MARK: SQLite's side

    func observes(eventsOfKind kind: DatabaseEventKind) -> Bool {
        state.withLock { state in
            let isWatched = state.watches.values.contains {
                !$0.isTouched && $0.region.isModified(byEventsOfKind: kind)
            }
            if isWatched { state.asked = kind }
            return isWatched
        }
    }

    /// A table without rowids changed, of which SQLite tells nobody: GRDB has asked whether its rows are watched.
    func databaseDidChange() {
        guard let asked = state.withLock({ $0.asked }) else { return }
        touch { $0.isModified(byEventsOfKind: asked) }
    }

    func databaseDidChange(with event: DatabaseEvent) { touch { $0.isModified(by: event) } }

    private func touch(_ isModified: (DatabaseRegion) -> Bool) {
        state.withLock { state in
            for (id, watch) in state.watches where !watch.isTouched && isModified(watch.region) {
                state.watches[id]?.isTouched = true
            }
        }
    }

    func databaseDidCommit(_ db: Database) {
        let waiters = state.withLock { state in
            state.commits += 1
            var waiters: [CheckedContinuation<Void, Never>] = []
            for (id, watch) in state.watches where watch.isTouched {
                state.watches[id]?.isTouched = false
                state.watches[id]?.isDirty = true
                guard let waiter = watch.waiter else { continue }
                state.watches[id]?.waiter = nil
                waiters.append(waiter)
            }
            return waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    func databaseDidRollback(_ db: Database) {
        state.withLock { state in
            for id in state.watches.keys { state.watches[id]?.isTouched = false }
        }
    }
}

/// One observation's place on the board; ends with the object.
final class ChangeWatch: Sendable {
    private let board: ChangeBoard
    private let id: Int

    fileprivate init(board: ChangeBoard, id: Int) {
        self.board = board
        self.id = id
    }

    deinit { board.remove(id) }

    /// What was read last may have changed, or nothing was read yet, or the task is cancelled.
    var isChanged: Bool { board.isDirty(id) }

    /// Waits until it has.
    func changed() async {
        guard !isChanged else { return }
        await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                if board.isDirty(id, orResume: waiter) { waiter.resume() }
            }
        } onCancel: {
            board.wake(id)
        }
    }

    /// Notes what `body` reads.
    func reading<Value>(_ body: () throws -> Value) rethrows -> Value {
        let commits = board.willRead(id)
        let recorder = RegionRecorder()
        defer { board.didRead(recorder.region, id, since: commits) }
        return try RegionRecorder.$current.withValue(recorder, operation: body)
    }
}
