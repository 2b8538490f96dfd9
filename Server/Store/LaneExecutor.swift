package import Dispatch
import TidemarkLock

/// Runs a store's lanes on the thread with which the store writes, or drives its connections.
///
/// The push of a single writer then wakes one thread between the socket and the store, which plans, writes and delivers
/// it. The system's threads would wake one to plan, the store's, and one more for the answer (`Sequencer/AHEAD.md`). With
/// many writers, planning the next batch beside the store's thread is worth more, and lanes run on the system's threads.
package final class LaneExecutor: Sendable {
    /// The number of submissions taken by a lane at once from which on the store has many writers.
    package static let crowdMin = 8

    private let enqueueing: @Sendable (@escaping @Sendable () -> Void) -> Void
    private let isCrowded = Lock(false)

    /// - Parameter enqueue: runs its argument on the store's thread, later and in order.
    package init(_ enqueue: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void) { enqueueing = enqueue }

    /// Runs lanes on a queue, such as the target queue of a writer's own queue.
    package convenience init(queue: DispatchQueue) { self.init { work in queue.async(execute: work) } }

    /// Notes how many submissions a lane took at once.
    package func took(_ submissions: Int) { isCrowded.set(submissions >= Self.crowdMin) }
}

@available(iOS 18, macOS 15, *)
extension LaneExecutor: TaskExecutor {
    /// Enqueues the job as ``TaskExecutor`` requires; never runs it on the caller's thread.
    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let work: @Sendable () -> Void = { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        if isCrowded.current { DispatchQueue.global().async(execute: work) } else { enqueueing(work) }
    }
}
