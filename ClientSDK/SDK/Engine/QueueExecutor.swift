import Dispatch

/// Runs tasks one after the other on a queue of its own, where they may block for the database.
///
/// A message then wakes one thread on its way from the socket into the file. With the system's threads, which must not
/// block, it wakes a second one for the database and the first one again for the answer.
@available(iOS 18, macOS 15, *)
final class QueueExecutor: TaskExecutor {
    private let queue: DispatchQueue

    init(label: String) { queue = DispatchQueue(label: label) }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
