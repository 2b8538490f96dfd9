import Foundation
import Synchronization
import TidemarkModel

/// The engine that a store runs, and who watches its status. One engine at a time.
final class SyncControl: Sendable {
    private struct State {
        var status = SyncStatus(phase: .stopped, lastSync: nil)
        var watchers: [Int: AsyncStream<SyncStatus>.Continuation] = [:]
        var nextWatcher = 0
        var engine: SyncEngine?
        var task: Task<Void, Never>?
    }

    private let state = Mutex(State())

    var status: SyncStatus { state.withLock { $0.status } }

    func update(_ change: @Sendable (inout SyncStatus) -> Void) {
        let (status, watchers) = state.withLock { state in
            change(&state.status)
            return (state.status, Array(state.watchers.values))
        }
        // Not under the lock: a watcher's executor may run in place.
        for watcher in watchers { watcher.yield(status) }
    }

    /// The status now and after each change; a slow watcher sees the newest.
    func values() -> AsyncStream<SyncStatus> {
        let (stream, continuation) = AsyncStream.makeStream(of: SyncStatus.self, bufferingPolicy: .bufferingNewest(1))
        let (id, status) = state.withLock { state in
            state.nextWatcher += 1
            state.watchers[state.nextWatcher] = continuation
            return (state.nextWatcher, state.status)
        }
        continuation.yield(status)
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { _ = $0.watchers.removeValue(forKey: id) }
        }
        return stream
    }

    /// Takes the place of the running engine, whose task is returned, already cancelled.
    func replace(engine: SyncEngine?, task: Task<Void, Never>?) -> Task<Void, Never>? {
        let before = state.withLock { state in
            defer { (state.engine, state.task) = (engine, task) }
            return state.task
        }
        before?.cancel()
        return before
    }

    func hurry() { state.withLock { $0.engine }?.hurry() }
}
