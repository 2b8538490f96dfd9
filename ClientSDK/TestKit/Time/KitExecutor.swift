import Dispatch
import Synchronization

/// Runs the engines of a kit, one job after the other on one thread, and only when it is told to.
///
/// So whatever happens between two calls of `run` happens in the same order each time. Blocking for a local database is
/// allowed here.
final class KitExecutor: TaskExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
        /// All that ever came.
        var count = 0
        /// How many callers want jobs to run as they come.
        var freeRuns = 0
    }

    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "tidemark.testkit")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isFree = state.withLock { state in
            state.jobs.append(job)
            state.count += 1
            return state.freeRuns > 0
        }
        if isFree { queue.async { self.drain() } }
    }

    /// Runs `body` on the executor's thread and gives back what it returns.
    func run<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: body()) }
        }
    }

    /// Runs every job there is, and those that they lead to. Only on the executor's thread.
    func drain() {
        while true {
            let jobs = state.withLock { state in
                defer { state.jobs = [] }
                return state.jobs
            }
            guard !jobs.isEmpty else { return }
            for job in jobs { job.runSynchronously(on: asUnownedTaskExecutor()) }
        }
    }

    /// Lets jobs run as they come, until `endFreeRun`. Calls nest.
    func beginFreeRun(_ step: @escaping @Sendable () -> Void) {
        state.withLock { $0.freeRuns += 1 }
        queue.async(execute: step)
    }

    func endFreeRun() { state.withLock { $0.freeRuns -= 1 } }

    var isFree: Bool { state.withLock { $0.freeRuns > 0 } }

    /// Jobs that came since the beginning.
    var jobCount: Int { state.withLock { $0.count } }

    /// Runs `step` on the executor's thread once the time is over, beside what comes in between.
    func post(after time: DispatchTimeInterval, _ step: @escaping @Sendable () -> Void) {
        queue.asyncAfter(deadline: .now() + time, execute: step)
    }
}
