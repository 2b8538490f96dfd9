package import Dispatch
import TidemarkLock

/// Runs the lanes of a store that writes with one thread of this process on that very thread.
///
/// A push of a writer who is alone then wakes one thread on its way from the socket into the file: it is planned, written and
/// given out there. On the system's threads it wakes one to plan, the writer's, and one more for the answer, which took a sixth
/// of the time. Where many write, planning the next batch beside the writer is worth more, and lanes run on the system's threads.
package final class LaneExecutor: Sendable {
    /// Submissions that a lane took at once from which on there are many who write.
    package static let crowdMin = 8

    /// The one that the writer's own queue has as its target.
    package let queue = DispatchQueue(label: "tidemark.writer")
    private let isCrowded = Lock(false)

    package init() {}

    /// Tells how many submissions a lane took at once.
    package func took(_ submissions: Int) { isCrowded.set(submissions >= Self.crowdMin) }
}

@available(iOS 18, macOS 15, *)
extension LaneExecutor: TaskExecutor {
    /// As ``TaskExecutor`` has it; never runs the job on the caller's thread.
    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let queue = isCrowded.current ? DispatchQueue.global() : queue
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
