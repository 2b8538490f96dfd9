import ServiceLifecycle

/// Runs the jobs that event loops start and may not wait for, each as a child of one task group.
///
/// The queue has no bound of its own. Each connection has at most one token, handshake or window in progress
/// and `pagesReadMax` pages, and each workspace one read of its tail.
final class BackgroundWork: Service {
    typealias Job = @Sendable () async -> Void

    private let jobs: AsyncStream<Job>
    private let continuation: AsyncStream<Job>.Continuation

    init() { (jobs, continuation) = AsyncStream.makeStream() }

    /// Starts a job; false once the service has ended. Any thread.
    @discardableResult
    func start(_ job: @escaping Job) -> Bool {
        if case .enqueued = continuation.yield(job) { true } else { false }
    }

    /// Runs until a graceful shutdown, then waits for the jobs that were started.
    func run() async {
        await withGracefulShutdownHandler {
            await withDiscardingTaskGroup { group in
                for await job in jobs { group.addTask { await job() } }
            }
        } onGracefulShutdown: {
            self.continuation.finish()
        }
        continuation.finish()
    }
}
