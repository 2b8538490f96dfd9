import Testing
import TidemarkLock
import TidemarkModel

@testable import Tidemark

@Suite(.timeLimit(.minutes(5))) struct SyncControlTests {
    /// Runs each job where it is enqueued: a watcher then runs in the middle of the change that notifies it.
    private final class InPlaceExecutor: TaskExecutor {
        func enqueue(_ job: consuming ExecutorJob) {
            UnownedJob(job).runSynchronously(on: asUnownedTaskExecutor())
        }
    }

    private final class Watchers: Sendable {
        private let state = Lock((seen: [Int: Int](), hasChanged: false))

        /// The last value that each watcher saw.
        var seen: [Int: Int] { state.withLock { $0.seen } }

        /// - Returns: true for the first watcher that sees a 1.
        func note(_ pending: Int, by watcher: Int) -> Bool {
            state.withLock { state in
                state.seen[watcher] = pending
                guard pending == 1, !state.hasChanged else { return false }
                state.hasChanged = true
                return true
            }
        }
    }

    private let control = SyncControl()

    @Test func `the last status that a watcher sees is the last one, also when one changes it during a notification`()
        async
    {
        let watchers = Watchers()
        let tasks = (0..<4).map { watcher in
            Task(executorPreference: InPlaceExecutor()) { [control] in
                for await status in control.values() {
                    if watchers.note(status.pending, by: watcher) { control.update { $0.pending = 2 } }
                    if status.pending == 3 { break }
                }
            }
        }
        #expect(watchers.seen == [0: 0, 1: 0, 2: 0, 3: 0])
        control.update { $0.pending = 1 }
        #expect(watchers.seen == [0: 2, 1: 2, 2: 2, 3: 2])
        control.update { $0.pending = 3 }
        for task in tasks { await task.value }
    }

    @Test func `an engine's status ends when another engine replaces it`() {
        let (first, second) = (EngineIdentity(), EngineIdentity())
        _ = control.replace(engine: nil, at: first, task: nil)
        #expect(control.update(by: first) { $0.connection = .live })
        _ = control.replace(engine: nil, at: second, task: nil)
        #expect(control.status.connection == .stopped)
        #expect(control.update(by: second) { $0.connection = .live })
        #expect(!control.update(by: first) { $0.connection = .stopped })
        #expect(control.status.connection == .live)
        // A connection that is ended has no successor: its last status stays.
        _ = control.replace(engine: nil, at: nil, task: nil)
        #expect(control.update(by: second) { $0.connection = .stopped })
        #expect(control.status.connection == .stopped)
    }
}
