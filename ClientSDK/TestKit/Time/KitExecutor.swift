import Dispatch
import TidemarkLock

/// Runs the engines of a kit, one job after the other on one thread, and only on request.
///
/// Thus everything between two calls of `run` happens in the same order each time. Blocking for a local database is
/// allowed here.
final class KitExecutor: Sendable {
    private struct State {
        var jobs: [UnownedJob] = []
        /// The number of all jobs so far.
        var count = 0
        /// The number of callers that want jobs to run as they arrive.
        var freeRuns = 0
    }

    private let state = Lock(State())
    private let queue = DispatchQueue(label: "tidemark.testkit")

    /// Accepts a job, which runs later.
    private func take(_ job: UnownedJob) {
        let isFree = state.withLock { state in
            state.jobs.append(job)
            state.count += 1
            return state.freeRuns > 0
        }
        if isFree { queue.async { self.drain() } }
    }

    /// Runs `body` on the executor's thread, no sooner than after `time`, and returns its result.
    func run<Value: Sendable>(
        after time: DispatchTimeInterval = .nanoseconds(0), _ body: @escaping @Sendable () -> Value
    ) async -> Value {
        await withCheckedContinuation { continuation in
            queue.asyncAfter(deadline: .now() + time) { continuation.resume(returning: body()) }
        }
    }

    /// Runs all jobs, including those that they add. Call it only on the executor's thread.
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

    /// Makes jobs run as they arrive, until `endFreeRun`. Calls nest.
    func beginFreeRun() { state.withLock { $0.freeRuns += 1 } }

    func endFreeRun() { state.withLock { $0.freeRuns -= 1 } }

    /// The number of jobs since the start.
    var jobCount: Int { state.withLock { $0.count } }
}

@available(iOS 18, macOS 15, *)
extension KitExecutor: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) { take(UnownedJob(job)) }
}
