import Dispatch
import TidemarkLock

/// Runs the engines of a kit, one job after the other on one thread, and only when it is told to.
///
/// So whatever happens between two calls of `run` happens in the same order each time. Blocking for a local database is
/// allowed here.
final class KitExecutor: Sendable {
    private struct State {
        var jobs: [UnownedJob] = []
        /// All that ever came.
        var count = 0
        /// How many callers want jobs to run as they come.
        var freeRuns = 0
    }

    private let state = Lock(State())
    private let queue = DispatchQueue(label: "tidemark.testkit")

    /// Takes a job, which runs later.
    private func take(_ job: UnownedJob) {
        let isFree = state.withLock { state in
            state.jobs.append(job)
            state.count += 1
            return state.freeRuns > 0
        }
        if isFree { queue.async { self.drain() } }
    }

    /// Runs `body` on the executor's thread, not before `time` is over, and gives back what it returns.
    func run<Value: Sendable>(
        after time: DispatchTimeInterval = .nanoseconds(0), _ body: @escaping @Sendable () -> Value
    ) async -> Value {
        await withCheckedContinuation { continuation in
            queue.asyncAfter(deadline: .now() + time) { continuation.resume(returning: body()) }
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
            guard #available(iOS 18, macOS 15, *) else { return }
            for job in jobs { job.runSynchronously(on: asUnownedTaskExecutor()) }
        }
    }

    /// Lets jobs run as they come, until `endFreeRun`. Calls nest.
    func beginFreeRun() { state.withLock { $0.freeRuns += 1 } }

    func endFreeRun() { state.withLock { $0.freeRuns -= 1 } }

    /// Jobs that came since the beginning.
    var jobCount: Int { state.withLock { $0.count } }
}

@available(iOS 18, macOS 15, *)
extension KitExecutor: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) { take(UnownedJob(job)) }
}
