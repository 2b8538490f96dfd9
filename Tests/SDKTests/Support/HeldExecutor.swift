import Dispatch
import TidemarkLock

/// Runs jobs on command, the last ones first: a job that was started first is then late.
final class HeldExecutor: TaskExecutor {
    /// `nil` once it is released.
    private let held = Lock<[UnownedJob]?>([])
    private let queue = DispatchQueue(label: "held")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isHeld = held.withLock { held in
            held?.append(job)
            return held != nil
        }
        if !isHeld { queue.async { self.run(job) } }
    }

    /// Runs the oldest job.
    func runOldest() {
        let job = held.withLock { $0?.isEmpty == false ? $0?.removeFirst() : nil }
        if let job { run(job) }
    }

    /// Runs all jobs but the oldest, and those that they lead to.
    func runAllButOldest() { runNewest(leaving: 1) }

    /// Runs all jobs, and those that they lead to.
    func runAll() { runNewest(leaving: 0) }

    private func runNewest(leaving left: Int) {
        while let job = held.withLock({ ($0?.count ?? 0) > left ? $0?.popLast() : nil }) { run(job) }
    }

    /// Runs the held jobs, and from now on each job when it arrives.
    func release() {
        let jobs = held.withLock { held in
            defer { held = nil }
            return held ?? []
        }
        for job in jobs { queue.async { self.run(job) } }
    }

    private func run(_ job: UnownedJob) { job.runSynchronously(on: asUnownedTaskExecutor()) }
}
