import GRDB
import TidemarkLock

/// Notifies observations of commits that concern what they have read.
///
/// SQLite reports changes before they are committed; they count once they are. When in doubt, the board notifies: a
/// needless notification costs one read, a missing one leaves a screen wrong. `PULL.md` explains why observations read
/// by themselves.
final class ChangeBoard: TransactionObserver, Sendable {
    private struct Watch {
        let origin: ObservationOrigin
        /// The region of the last read.
        var region = DatabaseRegion()
        /// True when the current transaction changes the region, or may do so.
        var isTouched = false
        /// True when something was committed since the region was read, or nothing was read yet.
        var isDirty = true
        var waiter: CheckedContinuation<Void, Never>?
        /// Called after a commit that made the watch dirty.
        var changed: (@Sendable () -> Void)?
    }

    private struct State {
        var watches: [Int: Watch] = [:]
        var nextID = 0
        var commits = 0
        /// The last event kind that a watch observes.
        var asked: DatabaseEventKind?
    }

    private let state = Lock(State())

    /// Adds an observation, which has read nothing yet.
    ///
    /// - Parameter changed: called on the writer's thread after the first commit that may have changed the last read.
    func watch(
        _ origin: ObservationOrigin = ObservationOrigin(""), changed: (@Sendable () -> Void)? = nil
    ) -> ChangeWatch {
        state.withLock { state in
            state.nextID += 1
            state.watches[state.nextID] = Watch(origin: origin, changed: changed)
            return ChangeWatch(board: self, id: state.nextID)
        }
    }

    /// The number of observations that wait for a change.
    var waiting: Int { state.withLock { $0.watches.values.count { $0.waiter != nil } } }

    /// The origin of each observation of a task.
    var origins: [ObservationOrigin] {
        state.withLock { $0.watches.values.filter { $0.changed == nil }.map(\.origin) }
    }

    // MARK: The observation's side

    /// Returns true when there is something to read. Otherwise the continuation is resumed at the next change, or by
    /// `wake`.
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

    /// Call it before reading: the read may miss what is committed from here on.
    fileprivate func willRead(_ id: Int) -> Int {
        state.withLock { state in
            state.watches[id]?.isDirty = false
            return state.commits
        }
    }

    /// - Parameter commits: the result of `willRead`.
    fileprivate func didRead(_ region: DatabaseRegion, _ id: Int, since commits: Int) {
        state.withLock { state in
            guard let watch = state.watches[id], watch.region != region else { return }
            state.watches[id]?.region = region
            // Nothing watched a region that is read for the first time.
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

    /// A table without rowids changed. SQLite does not report that; GRDB asked before whether its rows are watched.
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
        let (waiters, calls) = state.withLock { state in
            state.commits += 1
            var waiters: [CheckedContinuation<Void, Never>] = []
            var calls: [@Sendable () -> Void] = []
            for (id, watch) in state.watches where watch.isTouched {
                state.watches[id]?.isTouched = false
                state.watches[id]?.isDirty = true
                if let changed = watch.changed, !watch.isDirty { calls.append(changed) }
                guard let waiter = watch.waiter else { continue }
                state.watches[id]?.waiter = nil
                waiters.append(waiter)
            }
            return (waiters, calls)
        }
        for waiter in waiters { waiter.resume() }
        for call in calls { call() }
    }

    func databaseDidRollback(_ db: Database) {
        state.withLock { state in
            for id in state.watches.keys { state.watches[id]?.isTouched = false }
        }
    }
}

/// One observation's entry on the board; it ends with the object.
final class ChangeWatch: Sendable {
    private let board: ChangeBoard
    private let id: Int

    fileprivate init(board: ChangeBoard, id: Int) {
        self.board = board
        self.id = id
    }

    deinit { board.remove(id) }

    /// True when the last read may be outdated, when nothing was read yet, or when the task is cancelled.
    var isChanged: Bool { board.isDirty(id) }

    /// Waits until `isChanged` is true.
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

    /// Records the region that `body` reads.
    func reading<Value>(_ body: () throws -> Value) rethrows -> Value {
        let commits = board.willRead(id)
        let recorder = RegionRecorder()
        defer { board.didRead(recorder.region, id, since: commits) }
        return try RegionRecorder.$current.withValue(recorder, operation: body)
    }
}
