package import Dispatch
import TidemarkLock

/// Runs a store's lanes on the thread that writes, for stores that write with one thread of this process.
///
/// The push of a single writer then wakes one thread between the socket and the file, which plans, writes and delivers
/// it. The system's threads would wake one to plan, the writer's, and one more for the answer, which took a sixth of
/// the time. With many writers, planning the next batch beside the writer is worth more, and lanes run on the system's
/// threads.
package final class LaneExecutor: Sendable {
    /// The number of submissions taken by a lane at once from which on the store has many writers.
    package static let crowdMin = 8

    /// The target queue of the writer's own queue.
    package let queue = DispatchQueue(label: "tidemark.writer")
    private let isCrowded = Lock(false)

    package init() {}

    /// Notes how many submissions a lane took at once.
    package func took(_ submissions: Int) { isCrowded.set(submissions >= Self.crowdMin) }
}

@available(iOS 18, macOS 15, *)
extension LaneExecutor: TaskExecutor {
    /// Enqueues the job as ``TaskExecutor`` requires; never runs it on the caller's thread.
    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let queue = isCrowded.current ? DispatchQueue.global() : queue
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
