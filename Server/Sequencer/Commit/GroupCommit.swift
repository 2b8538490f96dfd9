package import Logging
import ServiceLifecycle
import Synchronization
package import TidemarkModel
package import TidemarkStore

/// Runs the sequencer over a store: while one batch of a workspace is being committed, the next one gathers (R-07), and
/// a large one is planned and sent ahead.
///
/// Each workspace that has something to do is a lane: one child task that takes batch after batch from the queue and
/// ends when it is empty. Nothing here waits for a timer, except between two tries of an unavailable store.
package final class GroupCommit: Service {
    /// Called once with the outcome of a submission, on any thread; must not block.
    package typealias Completion = @Sendable (PushOutcome) -> Void

    /// Called by the service with each committed batch before the completions of its submissions, for one workspace in
    /// the order of the batches, on any thread; the flag says whether other nodes follow the workspace.
    package typealias Publish = @Sendable (GroupCommit, WorkspaceID, CommittedBatch, Bool) -> Void

    /// Everything that the executor is given from outside.
    package struct Environment: Sendable {
        package var now: @Sendable () -> Milliseconds
        package var nonce: @Sendable () -> UInt64
        package var clock: any Clock<Duration>
        package var logger: Logger

        package init(
            now: @escaping @Sendable () -> Milliseconds, nonce: @escaping @Sendable () -> UInt64,
            clock: any Clock<Duration>, logger: Logger
        ) {
            self.now = now
            self.nonce = nonce
            self.clock = clock
            self.logger = logger
        }
    }

    /// Whom to answer. In a type of its own, since a bare function would be wrapped up anew each time the queue hands it on.
    struct Ticket: Sendable {
        let answer: Completion
    }

    struct Lane {
        var queue: LaneQueue<Ticket>
        /// Called once when there is enough for a batch ahead; set while the lane waits for that.
        var wake: (@Sendable () -> Void)?

        /// Adds a submission; false when the queue is full.
        mutating func take(_ submission: Submission, _ completion: @escaping Completion, aheadMin: Int) -> Bool {
            guard queue.append(submission, ticket: Ticket(answer: completion)) else { return false }
            if let wake, queue.waiting >= aheadMin {
                self.wake = nil
                wake()
            }
            return true
        }
    }

    struct State {
        /// The workspaces that have a serving task.
        var lanes: [WorkspaceID: Lane] = [:]
        var isClosed = false

        /// Queues a submission, or says why not; a lane that it opens is woken, and closes again if it has nothing to do.
        mutating func queue(
            _ entry: Entry, _ limits: LaneLimits, _ waking: AsyncStream<WorkspaceID>.Continuation
        ) -> PushOutcome? {
            guard !isClosed else { return .unavailable }
            let lanesBefore = lanes.count
            let isTaken = lanes[entry.workspace, default: Lane(queue: LaneQueue(limits: limits))]
                .take(entry.submission, entry.completion, aheadMin: limits.aheadTransactionsMin)
            if lanes.count > lanesBefore { waking.yield(entry.workspace) }
            return isTaken ? nil : .overloaded
        }
    }

    let store: any Store
    let sequencer: Sequencer
    let limits: LaneLimits
    let timing: CommitTiming
    let environment: Environment
    let publish: Publish
    let state = Mutex(State())
    let health = Mutex(StoreHealth())
    private let wakes: AsyncStream<WorkspaceID>
    /// Unbounded, but a workspace is in it at most once: only the submission that opens a lane yields.
    let waking: AsyncStream<WorkspaceID>.Continuation

    package init(
        store: any Store, sequencer: Sequencer, limits: LaneLimits = LaneLimits(),
        timing: CommitTiming = CommitTiming(), environment: Environment,
        publish: @escaping Publish
    ) {
        self.store = store
        self.sequencer = sequencer
        self.limits = limits
        self.timing = timing
        self.environment = environment
        self.publish = publish
        (wakes, waking) = AsyncStream.makeStream()
    }

    /// A submission on its way into the queue of its workspace.
    package struct Entry: Sendable {
        let submission: Submission
        let workspace: WorkspaceID
        let completion: Completion

        package init(_ submission: Submission, in workspace: WorkspaceID, completion: @escaping Completion) {
            self.submission = submission
            self.workspace = workspace
            self.completion = completion
        }
    }

    /// Queues submissions in their order; never waits. One is refused at once as `overloaded` when its workspace's queue
    /// is full, and as `unavailable` once the service is stopping.
    package func submit(_ entries: [Entry]) {
        var refused: [(entry: Entry, outcome: PushOutcome)] = []
        state.withLock { state in
            for entry in entries {
                guard let refusal = state.queue(entry, limits, waking) else { continue }
                refused.append((entry, refusal))
            }
        }
        for (entry, outcome) in refused { entry.completion(outcome) }
    }

    /// Queues one submission.
    package func submit(
        _ submission: Submission, in workspace: WorkspaceID, completion: @escaping Completion
    ) {
        submit([Entry(submission, in: workspace, completion: completion)])
    }

    /// Why no commit comes through, as of the last one that was tried; `nil` while they do.
    package var storeFault: StoreError.Fault? { health.withLock { $0.fault } }

    /// Tries the store if the last commit found something wrong with it, so that this is known to be over even when nobody
    /// writes.
    package func probeStore() async {
        guard storeFault != nil else { return }
        do throws(StoreError) {
            try await store.probe()
            note(health.withLock { $0.succeeded() }, nil)
        } catch {
            let now = environment.now()
            note(health.withLock { $0.failed(error, now: now) }, nil)
        }
    }

    func note(_ note: StoreHealth.Note?, _ workspace: WorkspaceID?) {
        switch note {
        case nil: break
        case .recovers: environment.logger.notice("The store takes commits again")
        case .fails(let error, let unnoted):
            environment.logger.error(
                "The store does not take a commit; it is tried again",
                metadata: [
                    "workspace": "\(workspace.map { "\($0)" } ?? "")", "error": "\(error)",
                    "unnoted": "\(unnoted)",
                ])
        }
    }

    /// Whether submissions of the workspace wait, are being committed, or are committed and not yet published. Where the
    /// answer is no, every batch that was committed before has been published.
    package func isCommitting(in workspace: WorkspaceID) -> Bool { state.withLock { $0.lanes[workspace] != nil } }

    /// Commits until a graceful shutdown, then what is queued: with an unavailable store that ends at the first failure.
    package func run() async throws {
        await withGracefulShutdownHandler {
            await withDiscardingTaskGroup { group in
                for await workspace in wakes {
                    group.addTask { await self.serve(workspace) }
                }
            }
        } onGracefulShutdown: {
            self.close()
        }
        close()
        // Only after a cancellation is anything left: lanes that were never served.
        let left = state.withLock { state in
            defer { state.lanes = [:] }
            return Array(state.lanes.values)
        }
        for var lane in left {
            while !lane.queue.isEmpty {
                for element in lane.queue.take() { element.ticket.answer(.unavailable) }
            }
        }
    }

    /// Accepts nothing more; the service ends with its last lane.
    private func close() {
        state.withLock { state in
            state.isClosed = true
            if state.lanes.isEmpty { waking.finish() }
        }
    }
}
