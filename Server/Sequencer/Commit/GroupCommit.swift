package import Logging
import ServiceLifecycle
import TidemarkLock
package import TidemarkModel
package import TidemarkStore

/// Runs the sequencer over a store. While one batch of a workspace is being committed, the next one gathers (R-07), and
/// a large one is planned and sent ahead.
///
/// Each workspace with writes has a ``Lane`` and one task that serves it. Nothing here waits for a timer, except
/// between two attempts at an unavailable store.
package final class GroupCommit: Service {
    /// Called once with the outcome of a submission, on any thread; must not block.
    package typealias Completion = @Sendable (PushOutcome) -> Void

    /// Called with each committed batch before the completions of its submissions, on any thread. Calls for one
    /// workspace come in the order of the batches. The flag says whether other nodes follow the workspace.
    package typealias Publish = @Sendable (GroupCommit, WorkspaceID, CommittedBatch, Bool) -> Void

    /// The dependencies that the caller provides.
    package struct Environment: Sendable {
        package var now: @Sendable () -> Milliseconds
        package var nonce: @Sendable () -> UInt64
        package var clock: any Clock<Duration>
        package var logger: Logger
        package var observer = CommitObserver()
        /// Starts a commit on the thread that planned it, on systems that can; false for the way of older systems.
        package var startsAtOnce = true

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

    struct Lanes {
        var open: [WorkspaceID: Lane] = [:]
        var isClosed = false
        /// The number of times that all lanes were examined.
        private(set) var sweeps = 0
        /// The number of open lanes at which they are examined again.
        private var sweepsAt = 0

        /// Closes half of the idle lanes if there are too many: what they remember is read again.
        ///
        /// It also sets the next examination: if all lanes are busy, half as many more may open before it. So opening a
        /// lane costs examining three others, however many there are.
        mutating func makeRoom(lanesMax: Int) {
            guard open.count >= max(lanesMax, sweepsAt) else { return }
            sweeps += 1
            var left = open.count / 2
            for (workspace, lane) in open {
                guard left > 0 else { break }
                guard lane.closeIfIdle() else { continue }
                open[workspace] = nil
                left -= 1
            }
            sweepsAt = open.count + open.count / 2
        }
    }

    let store: any Store
    /// The store's executor of all lanes.
    private let laneExecutor: LaneExecutor?
    let sequencer: Sequencer
    let limits: LaneLimits
    let timing: CommitTiming
    let environment: Environment
    let publish: Publish
    let lanes = Lock(Lanes())
    private let health = Lock(StoreHealth())
    /// Read after each commit; the lock behind it is taken only when something is wrong.
    private let hasFault = Lock(false)
    private let opened: AsyncStream<Lane>
    /// Each lane is yielded once.
    private let opening: AsyncStream<Lane>.Continuation

    package init(
        store: any Store, sequencer: Sequencer, limits: LaneLimits = LaneLimits(),
        timing: CommitTiming = CommitTiming(), environment: Environment,
        publish: @escaping Publish
    ) {
        self.store = store
        laneExecutor = store.laneExecutor
        self.sequencer = sequencer
        self.limits = limits
        self.timing = timing
        self.environment = environment
        self.publish = publish
        (opened, opening) = AsyncStream.makeStream()
    }

    /// A submission to queue for its workspace.
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

    /// The lanes that a submitter has used, so that it need not look them up behind a lock that all workspaces share.
    /// Each submitter keeps its own.
    package struct KnownLanes {
        fileprivate var lanes: [WorkspaceID: Lane] = [:]

        package init() {}
    }

    /// Queues submissions in their order; never waits. A submission is refused at once: as `overloaded` when its
    /// workspace's queue is full, and as `unavailable` once the service is stopping.
    package func submit(_ entries: [Entry], knowing known: inout KnownLanes) {
        for entry in entries {
            if let refusal = queue(entry, &known) { entry.completion(refusal) }
        }
    }

    private func queue(_ entry: Entry, _ known: inout KnownLanes) -> PushOutcome? {
        while let lane = known.lanes[entry.workspace] ?? lane(of: entry.workspace) {
            switch lane.submit(entry.submission, entry.completion) {
            case .queued:
                guard known.lanes[entry.workspace] == nil else { return nil }
                if known.lanes.count >= limits.lanesMax { known.lanes = [:] }
                known.lanes[entry.workspace] = lane
                return nil
            case .full: return .overloaded
            case .closed:
                known.lanes[entry.workspace] = nil
                forget(lane)
            }
        }
        return .unavailable
    }

    /// Returns the workspace's lane and opens one if needed; `nil` once the service is stopping.
    private func lane(of workspace: WorkspaceID) -> Lane? {
        lanes.withLock { lanes in
            guard !lanes.isClosed else { return nil }
            if let lane = lanes.open[workspace] { return lane }
            lanes.makeRoom(lanesMax: limits.lanesMax)
            let lane = Lane(workspace, limits: limits)
            lanes.open[workspace] = lane
            opening.yield(lane)
            return lane
        }
    }

    private func forget(_ lane: Lane) {
        lanes.withLock { lanes in
            if lanes.open[lane.workspace] === lane { lanes.open[lane.workspace] = nil }
        }
    }

    /// Queues one submission.
    package func submit(
        _ submission: Submission, in workspace: WorkspaceID, completion: @escaping Completion
    ) {
        var known = KnownLanes()
        submit([Entry(submission, in: workspace, completion: completion)], knowing: &known)
    }

    /// The fault that makes commits fail, as of the last attempt; `nil` while they succeed.
    package var storeFault: StoreError.Fault? { health.withLock { $0.fault } }

    /// Probes the store if the last commit failed with a fault, so that the fault's end is noticed even without writes.
    package func probeStore() async {
        guard storeFault != nil else { return }
        do throws(StoreError) {
            try await store.probe()
            succeeded()
        } catch {
            failed(error, nil)
        }
    }

    func succeeded() {
        guard hasFault.current else { return }
        note(
            health.withLock { health in
                hasFault.set(false)
                return health.succeeded()
            }, nil)
    }

    func failed(_ error: StoreError, _ workspace: WorkspaceID?) {
        let now = environment.now()
        note(
            health.withLock { health in
                let note = health.failed(error, now: now)
                hasFault.set(health.fault != nil)
                return note
            }, workspace)
    }

    private func note(_ note: StoreHealth.Note?, _ workspace: WorkspaceID?) {
        switch note {
        case nil: break
        case .recovers: environment.logger.notice("The store takes commits again")
        case .fails(let error, let unnoted):
            environment.logger.error(
                "A commit failed; it is tried again",
                metadata: [
                    "workspace": "\(workspace.map { "\($0)" } ?? "")", "error": "\(error)",
                    "unnoted": "\(unnoted)",
                ])
        }
    }

    /// The number of lanes, and of waiting transactions in all of them and in the longest queue. Takes each lane's lock
    /// for a moment.
    package var depths: (lanes: Int, all: Int, longest: Int) {
        let waiting = lanes.withLock { Array($0.open.values) }.map(\.waiting)
        return (waiting.count, waiting.reduce(0, +), waiting.max() ?? 0)
    }

    /// Returns whether submissions of the workspace wait, are being committed, or are committed and not yet published.
    /// If not, every batch that was committed before has been published.
    package func isCommitting(in workspace: WorkspaceID) -> Bool {
        lanes.withLock { $0.open[workspace] }?.isBusy ?? false
    }

    /// Commits until a graceful shutdown, then commits what is queued. With an unavailable store that ends at the first
    /// failure.
    package func run() async throws {
        await withGracefulShutdownHandler {
            await withChildTasks { children in
                for await lane in opened {
                    guard #available(iOS 18, macOS 15, *) else {
                        await children.add { await self.serve(lane) }
                        continue
                    }
                    await children.add(on: laneExecutor) { await self.serve(lane) }
                }
                close()
            }
        } onGracefulShutdown: {
            self.close()
        }
        // Only a cancellation leaves something: lanes that were never served.
        for lane in lanes.withLock({ Array($0.open.values) }) {
            for ticket in lane.drain() { ticket.answer(.unavailable) }
        }
    }

    /// Stops accepting submissions; the service ends with its last lane.
    private func close() {
        let open = lanes.withLock { lanes in
            lanes.isClosed = true
            opening.finish()
            return Array(lanes.open.values)
        }
        for lane in open { lane.close() }
    }
}

extension GroupCommit {
    /// Carries out the actions of the workspace's machine, until the lane is closed and nothing is left.
    func serve(_ lane: Lane) async {
        guard environment.startsAtOnce, #available(iOS 26, macOS 26, *) else { return await serveInTurn(lane) }
        await withDiscardingTaskGroup { group in
            await serve(lane) { work in group.addImmediateTask { await work() } }
        }
    }

    /// Serves a lane on systems whose tasks cannot begin where they are created. One child task runs the lane's reads
    /// and commits, so that they still reach the store in order, but each ends before the next begins.
    private func serveInTurn(_ lane: Lane) async {
        let (work, queue) = AsyncStream.makeStream(of: (@Sendable () async -> Void).self)
        await withTaskGroup(of: Void.self) { group in
            group.addTask { for await next in work { await next() } }
            await serve(lane) { queue.yield($0) }
            queue.finish()
        }
    }

    /// - Parameter start: starts a read or a commit; they reach the store in the order in which they are started.
    private func serve(_ lane: Lane, start: (@escaping @Sendable () async -> Void) -> Void) async {
        var machine = LaneMachine<Lane.Ticket>(sequencer: sequencer, limits: limits)
        while true {
            switch machine.next(waiting: lane.waiting, now: environment.now(), nonce: environment.nonce) {
            case .take(let isAhead):
                let taken = lane.take()
                laneExecutor?.took(taken.count)
                machine.take(taken, isAhead: isAhead)
            case .putBack(let elements, let cut): lane.putBack(elements, cut: cut)
            case .read(let number, let reads):
                start { lane.report(.read(number, await self.read(reads, in: lane.workspace))) }
            case .commit(let number, let planned):
                // It runs here until it waits for the store, so that commits reach the store in order.
                start { lane.report(.committed(number, await self.commit(planned, in: lane.workspace))) }
            case .end(let turn): await turn.end()
            case .deliver(let batch, let isHeard, let answers):
                if let batch { publish(self, lane.workspace, batch, isHeard) }
                environment.observer.answered(answers.map(\.1), batch != nil)
                for (ticket, outcome) in answers { ticket.answer(outcome) }
            case .pause(let failures):
                machine.resumed(goesOn: await pause(afterFailures: failures, of: lane))
            case .note(let note): log(note, lane.workspace)
            case .wait(let isOpen):
                switch await lane.next(orAt: isOpen ? limits.aheadTransactionsMin : nil) {
                case .read(let number, let result): machine.read(number, result)
                case .committed(let number, let result): machine.committed(number, result)
                case .filled, .closed: break
                }
            case .rest: guard await lane.rest() else { return }
            }
        }
    }

    private func read(_ reads: ReadSet, in workspace: WorkspaceID) async -> Result<Reading, StoreError> {
        do throws(StoreError) {
            return .success(try await store.read(reads, in: workspace))
        } catch {
            failed(error, workspace)
            return .failure(error)
        }
    }

    private func commit(_ planned: PlannedBatch, in workspace: WorkspaceID) async -> Result<Commitment, StoreError> {
        let (result, took) = await environment.clock.timed { () async -> Result<Commitment, StoreError> in
            do throws(StoreError) {
                return .success(try await store.commit(planned, in: workspace))
            } catch {
                return .failure(error)
            }
        }
        switch result {
        case .success(.written):
            succeeded()
            environment.observer.written(took)
        case .success: break
        case .failure(let error): failed(error, workspace)
        }
        return result
    }

    /// Pauses before the next attempt; false when the service stops and another attempt is pointless.
    private func pause(afterFailures failures: Int, of lane: Lane) async -> Bool {
        guard !lane.isClosed else { return false }
        do {
            try await environment.clock.sleep(for: timing.wait(afterFailures: failures))
            return true
        } catch {
            return false
        }
    }

    private func log(_ note: LaneNote, _ workspace: WorkspaceID) {
        switch note {
        case .gaveUp(let error, let tries):
            environment.logger.error(
                "Gave up on a batch: the store is not available",
                metadata: ["workspace": "\(workspace)", "error": "\(error)", "tries": "\(tries)"])
        case .refused(let error, let remedy, let submissions, let client, let number):
            let metadata: Logger.Metadata = [
                "workspace": "\(workspace)", "error": "\(error)", "submissions": "\(submissions)",
                "client": "\(client.map { "\($0)" } ?? "")", "number": "\(number)",
            ]
            switch remedy {
            case .halve, .singleOut, .repeatOnce:
                environment.logger.warning(
                    "The store refused a batch: searching for the transaction at fault", metadata: metadata)
            case .refuse:
                environment.logger.error("Refusing a transaction that the store cannot write", metadata: metadata)
            case .giveUp:
                environment.logger.critical(
                    "The store cannot even write the refusal of a transaction", metadata: metadata)
            }
        }
    }
}
