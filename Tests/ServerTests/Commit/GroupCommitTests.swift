import Logging
import ServiceLifecycle
import Testing
import TidemarkLock
import TidemarkModel
import TidemarkStore
import TidemarkWire

@testable import TidemarkAssembly
@testable import TidemarkSequencer

/// A clock whose sleeps end at once and are recorded.
final class NotingClock: Clock, Sendable {
    struct Instant: InstantProtocol {
        var offset: Duration = .zero
        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private let state = Lock((now: Instant(), sleeps: [Duration]()))

    var now: Instant { state.withLock { $0.now } }
    var minimumResolution: Duration { .zero }
    var sleeps: [Duration] { state.withLock { $0.sleeps } }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try Task.checkCancellation()
        state.withLock { state in
            state.sleeps.append(state.now.duration(to: deadline))
            state.now = max(state.now, deadline)
        }
    }
}

@Suite(.timeLimit(.minutes(5))) struct GroupCommitTests {
    private let store = FaultyStore()
    private let clock = NotingClock()
    private let workspace = WorkspaceID("w")
    private let published = Published()

    private final class Published: Sendable {
        let batches = Lock<[CommittedBatch]>([])
        /// Whether the workspace was being committed, at each publication.
        let wasCommitting = Lock<[Bool]>([])
    }

    private func commits(
        _ limits: LaneLimits = LaneLimits(), nonce: @escaping @Sendable () -> UInt64 = { 7 }, startsAtOnce: Bool = true
    ) throws -> GroupCommit {
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        let published = published
        var environment = GroupCommit.Environment(now: { 1 }, nonce: nonce, clock: clock, logger: logger)
        environment.startsAtOnce = startsAtOnce
        return GroupCommit(
            store: store,
            sequencer: Sequencer(limits: ModelLimits(), bounds: limits.plan),
            limits: limits, environment: environment
        ) { commits, workspace, batch, _ in
            published.batches.withLock { $0.append(batch) }
            published.wasCommitting.withLock { $0.append(commits.isCommitting(in: workspace)) }
        }
    }

    private func submission(_ client: UInt64, from first: Int64, _ transactions: [Transaction]) throws -> Submission {
        let admission = Admission(schema: try ServerConfiguration.sampleSchema(), limits: ModelLimits())
        let principal = Principal(user: UserID("ann"))
        return Submission(
            client: Sample.id(client), principal: principal, connection: 1, ackedThrough: 0, first: first,
            entries: transactions.map { admission.admit(Push.Entry($0), from: principal) }, bytes: 100)
    }

    private func register(_ clients: UInt64...) async throws {
        for client in clients {
            _ = try await store.register(Sample.id(client), for: UserID("ann"), in: workspace, now: 0)
        }
    }

    private func outcome(of submission: Submission, by commits: GroupCommit) async -> PushOutcome {
        await withCheckedContinuation { continuation in
            commits.submit(submission, in: workspace) { continuation.resume(returning: $0) }
        }
    }

    private func running(_ commits: GroupCommit, _ body: () async throws -> Void) async throws {
        let group = ServiceGroup(configuration: .init(services: [commits], logger: Logger(label: "test")))
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            try await body()
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
        }
    }

    @Test func `a workspace is being committed from the submission until the batch is published`() async throws {
        try await register(1)
        let commits = try commits()
        #expect(!commits.isCommitting(in: workspace))
        store.faults.withLock { $0.isHeld = true }
        try await running(commits) {
            async let first = outcome(of: try submission(1, from: 1, [Sample.profile(11)]), by: commits)
            await store.tried(1)
            #expect(commits.isCommitting(in: workspace))
            store.release()
            #expect(try await first.isSettled)
        }
        #expect(published.wasCommitting.withLock { $0 } == [true])
        #expect(!commits.isCommitting(in: workspace))
    }

    @Test(arguments: [true, false])
    func `batches are committed in their order, even if a task cannot start where it is made`(
        startsAtOnce: Bool
    ) async throws {
        try await register(1)
        var limits = LaneLimits()
        limits.aheadTransactionsMin = 1
        let commits = try commits(limits, startsAtOnce: startsAtOnce)
        let count = 40
        try await running(commits) {
            let (outcomes, settle) = AsyncStream.makeStream(of: PushOutcome.self)
            for number in 1...count {
                let submission = try submission(1, from: Int64(number), [Sample.profile(100 + UInt64(number))])
                commits.submit(submission, in: workspace) { settle.yield($0) }
            }
            var settled = 0
            for await outcome in outcomes {
                #expect(outcome.isSettled)
                settled += 1
                if settled == count { break }
            }
        }
        let numbers = published.batches.withLock { $0.flatMap { $0.records.map(\.seq) } }
        #expect(numbers.count == count && numbers == numbers.sorted())
    }

    @Test func `a caller that knows a closed lane gets the next one`() async throws {
        var limits = LaneLimits()
        limits.lanesMax = 2
        let commits = try commits(limits)
        let workspaces = (1...3).map { WorkspaceID("w\($0)") }
        for workspace in workspaces {
            _ = try await store.register(Sample.id(1), for: UserID("ann"), in: workspace, now: 0)
        }
        try await running(commits) {
            var known = GroupCommit.KnownLanes()
            func outcome(_ number: Int64, in workspace: WorkspaceID) async throws -> PushOutcome {
                let submission = try submission(1, from: number, [Sample.profile(10 + UInt64(number))])
                let (outcomes, settle) = AsyncStream.makeStream(of: PushOutcome.self)
                let entry = GroupCommit.Entry(submission, in: workspace) { settle.yield($0) }
                commits.submit([entry], knowing: &known)
                return try #require(await outcomes.first { _ in true })
            }
            // The third one closes one of the two before it.
            for workspace in workspaces {
                let outcome = try await outcome(1, in: workspace)
                #expect(outcome.isSettled)
            }
            for workspace in workspaces {
                let outcome = try await outcome(2, in: workspace)
                #expect(outcome.isSettled)
            }
        }
    }

    @Test func `one lane more, beside any number of busy ones, costs a look at a few of them`() throws {
        var lanes = GroupCommit.Lanes()
        let waiting = try submission(1, from: 1, [Sample.profile(11)])
        for number in 0..<2_000 {
            lanes.makeRoom(lanesMax: 100)
            let workspace = WorkspaceID("w\(number)")
            let lane = Lane(workspace, limits: LaneLimits())
            // The lane is never served, so it never rests.
            _ = lane.submit(waiting) { _ in }
            lanes.open[workspace] = lane
        }
        #expect(lanes.open.count == 2_000)
        #expect((1...12).contains(lanes.sweeps), "each is of half as many more")
    }

    @Test func `submissions that arrive during a commit are in the next batch`() async throws {
        try await register(1, 2, 3)
        let commits = try commits()
        store.faults.withLock { $0.isHeld = true }
        try await running(commits) {
            async let first = outcome(of: try submission(1, from: 1, [Sample.profile(11)]), by: commits)
            await store.tried(1)
            let (outcomes, settle) = AsyncStream.makeStream(of: PushOutcome.self)
            for client in [UInt64(2), 3] {
                commits.submit(try submission(client, from: 1, [Sample.profile(client * 10)]), in: workspace) {
                    settle.yield($0)
                }
            }
            commits.submit(try submission(1, from: 2, [Sample.profile(12)]), in: workspace) { settle.yield($0) }
            store.release()
            #expect(try await first.isSettled)
            var count = 0
            for await outcome in outcomes {
                #expect(outcome.isSettled)
                count += 1
                if count == 3 { break }
            }
        }
        #expect(store.faults.withLock { $0.tried } == [1, 3])
        #expect(published.batches.withLock { $0.map(\.records.count) } == [1, 3])
        #expect(published.batches.withLock { $0.map(\.low) } == [1, 2])
    }

    @Test func `a long queue is committed ahead, and again in its turn when the order moved`() async throws {
        try await register(1, 2, 3)
        var limits = LaneLimits()
        limits.aheadTransactionsMin = 2
        let commits = try commits(limits)
        try await running(commits) {
            // Remembered clients need not be read.
            for client in [UInt64(1), 2, 3] {
                #expect(
                    await outcome(of: try submission(client, from: 1, [Sample.profile(client)]), by: commits).isSettled)
            }
            store.faults.withLock { $0.isHeld = true }
            async let first = outcome(of: try submission(1, from: 2, [Sample.profile(11)]), by: commits)
            await store.tried(4)
            let (outcomes, settle) = AsyncStream.makeStream(of: PushOutcome.self)
            for client in [UInt64(2), 3] {
                commits.submit(try submission(client, from: 2, [Sample.profile(client * 10)]), in: workspace) {
                    settle.yield($0)
                }
            }
            try await eventually { store.faults.withLock({ $0.ahead }) != 0 }
            store.release()
            #expect(try await first.isSettled)
            var iterator = outcomes.makeAsyncIterator()
            for _ in 0..<2 { #expect(await iterator.next()?.isSettled == true) }
        }
        #expect(store.faults.withLock { $0.tried } == [1, 1, 1, 1, 2])
        #expect(store.faults.withLock { $0.ahead } == 1)
        #expect(published.batches.withLock { $0.map(\.low) } == [1, 2, 3, 4, 5])
    }

    @Test func `an empty submission is answered as well`() async throws {
        try await register(1)
        let commits = try commits()
        try await running(commits) {
            let push = try submission(1, from: 1, [])
            #expect(await outcome(of: push, by: commits).isSettled)
        }
        #expect(published.batches.withLock { $0.isEmpty })
    }

    @Test func `a batch that is planned again gets another nonce`() async throws {
        let nonces = Lock<UInt64>(0)
        let commits = try commits {
            nonces.withLock {
                $0 += 1; return $0
            }
        }
        try await register(1)
        store.faults.withLock { $0.commitsMoved = 1 }
        try await running(commits) {
            let push = try submission(1, from: 1, [Sample.profile(11)])
            #expect(await outcome(of: push, by: commits).isSettled)
        }
        #expect(published.batches.withLock { $0.map(\.head.nonce) } == [2])
    }

    @Test func `an unavailable store is tried again unnoticed`() async throws {
        try await register(1)
        let commits = try commits()
        store.faults.withLock { $0.commitsLost = 3 }
        try await running(commits) {
            let push = try submission(1, from: 1, [Sample.profile(11)])
            let outcome = await outcome(of: push, by: commits)
            #expect(outcome.isSettled)
        }
        #expect(clock.sleeps == [.milliseconds(50), .milliseconds(100), .milliseconds(200)])
        #expect(published.batches.withLock { $0.count } == 1)
    }

    @Test func `after the last try the submissions are given back and the next batch starts afresh`() async throws {
        try await register(1)
        let commits = try commits()
        store.faults.withLock { $0.commitsLost = LaneLimits().attemptsMax }
        try await running(commits) {
            let push = try submission(1, from: 1, [Sample.profile(11)])
            #expect(await outcome(of: push, by: commits) == .unavailable)
            #expect(await outcome(of: push, by: commits).isSettled)
        }
        #expect(clock.sleeps.count == LaneLimits().attemptsMax - 1)
    }

    @Test func `a batch that takes too long is divided until its parts get through, and nothing is refused`()
        async throws
    {
        try await register(1, 2, 3)
        let commits = try commits()
        store.faults.withLock { ($0.isHeld, $0.transactionsMax) = (true, 1) }
        try await running(commits) {
            async let first = outcome(
                of: try submission(1, from: 1, [11, 12, 13].map { Sample.profile($0) }), by: commits)
            await store.tried(1)
            let (outcomes, settle) = AsyncStream.makeStream(of: PushOutcome.self)
            for client in [UInt64(2), 3] {
                commits.submit(try submission(client, from: 1, [Sample.profile(client * 10)]), in: workspace) {
                    settle.yield($0)
                }
            }
            store.release()
            guard case .settled(3, let results) = try await first else {
                Issue.record("the push is not settled")
                return
            }
            #expect(results.map(\.rejection) == [nil, nil, nil])
            var iterator = outcomes.makeAsyncIterator()
            for _ in 0..<2 { #expect(await iterator.next()?.isSettled == true) }
        }
        #expect(store.faults.withLock { $0.tried } == [3, 1, 1, 1, 2, 1, 1])
        #expect(clock.sleeps.isEmpty)
        #expect(published.batches.withLock { $0.flatMap(\.records).count } == 5)
    }

    @Test func `a single transaction that takes too long is given back after the last try, not refused`()
        async throws
    {
        try await register(1)
        let commits = try commits()
        store.faults.withLock { $0.transactionsMax = 0 }
        try await running(commits) {
            let push = try submission(1, from: 1, [Sample.profile(11)])
            #expect(await outcome(of: push, by: commits) == .unavailable)
            store.faults.withLock { $0.transactionsMax = 1 }
            #expect(await outcome(of: push, by: commits).isSettled)
        }
        #expect(clock.sleeps.count == LaneLimits().attemptsMax - 1)
    }

    @Test
    func `entries that exceed a batch are in the next ones, between those of others, and are answered together`()
        async throws
    {
        try await register(1, 2)
        var limits = LaneLimits()
        limits.plan.batchWorkMax = 1
        let commits = try commits(limits)
        store.faults.withLock { $0.isHeld = true }
        try await running(commits) {
            async let first = outcome(
                of: try submission(1, from: 1, [11, 12, 13].map { Sample.profile($0) }), by: commits)
            await store.tried(1)
            async let second = outcome(of: try submission(2, from: 1, [Sample.profile(21)]), by: commits)
            async let third = outcome(of: try submission(1, from: 4, [Sample.profile(14)]), by: commits)
            try await eventually { commits.lanes.withLock({ $0.open[workspace]?.waiting }) == 2 }
            store.release()
            guard case .settled(3, let results) = try await first else {
                Issue.record("the push is not settled")
                return
            }
            #expect(results.map(\.number) == [1, 2, 3] && results.allSatisfy { $0.rejection == nil })
            #expect(try await second.isSettled)
            guard case .settled(4, let last) = try await third else {
                Issue.record("what followed is not settled")
                return
            }
            #expect(last.map(\.number) == [4])
        }
        let keys = published.batches.withLock { $0.map { $0.records.map(\.key.id) } }
        #expect(keys == [11, 21, 12, 13, 14].map { [Sample.id($0)] })
    }

    @Test func `nothing is committed ahead of entries that exceeded a batch`() async throws {
        try await register(1)
        var limits = LaneLimits()
        limits.aheadTransactionsMin = 1
        limits.plan.batchWorkMax = 1
        let commits = try commits(limits)
        try await running(commits) {
            // Remembered clients need not be read: then another batch could be committed ahead.
            #expect(await outcome(of: try submission(1, from: 1, [Sample.profile(10)]), by: commits).isSettled)
            store.faults.withLock { $0.isHeld = true }
            async let first = outcome(of: try submission(1, from: 2, [11, 12].map { Sample.profile($0) }), by: commits)
            await store.tried(2)
            let (outcomes, next) = AsyncStream.makeStream(of: PushOutcome.self)
            // The submission is queued when this returns: enough for a batch ahead.
            commits.submit(try submission(1, from: 4, [Sample.profile(13)]), in: workspace) { next.yield($0) }
            store.release()
            #expect(try await first.isSettled)
            var iterator = outcomes.makeAsyncIterator()
            #expect(await iterator.next()?.isSettled == true)
        }
        #expect(store.faults.withLock { $0.ahead } == 0)
        let keys = published.batches.withLock { $0.map { $0.records.map(\.key.id) } }
        #expect(keys == [10, 11, 12, 13].map { [Sample.id($0)] })
    }

    @Test func `entries that exceed a divided batch are not forgotten either`() async throws {
        try await register(1)
        var limits = LaneLimits()
        limits.plan.batchWorkMax = 1
        let commits = try commits(limits)
        store.faults.withLock { $0.commitsLost = 1 }
        try await running(commits) {
            let push = try submission(1, from: 1, [11, 12, 13].map { Sample.profile($0) })
            guard case .settled(3, let results) = await outcome(of: push, by: commits) else {
                Issue.record("the push is not settled")
                return
            }
            #expect(results.map(\.number) == [1, 2, 3])
        }
        #expect(published.batches.withLock { $0.map(\.records.count) } == [1, 1, 1])
    }

    @Test func `poison is refused alone and its neighbours take effect`() async throws {
        try await register(1, 2)
        let commits = try commits()
        store.faults.withLock { $0.poison = [Sample.id(12)] }
        try await running(commits) {
            let push = try submission(1, from: 1, [11, 12, 13].map { Sample.profile($0) })
            guard case .settled(3, let results) = await outcome(of: push, by: commits) else {
                Issue.record("the push is not settled")
                return
            }
            #expect(results.map(\.rejection?.code) == [nil, .internalRejected, nil])
            #expect(await outcome(of: push, by: commits) == .settled(through: 3, results: results))
        }
        let keys = published.batches.withLock { $0.flatMap(\.records).map(\.key.id) }
        #expect(keys == [Sample.id(11), Sample.id(13)])
    }

    @Test func `a full queue refuses at once`() async throws {
        var limits = LaneLimits()
        limits.queueTransactionsMax = 1
        let commits = try commits(limits)
        let answers = Lock<[PushOutcome]>([])
        // The service does not run yet: the first stays queued.
        commits.submit(try submission(1, from: 1, [Sample.profile(11)]), in: workspace) { _ in }
        let overloaded = await outcome(of: try submission(1, from: 2, [Sample.profile(12)]), by: commits)
        answers.withLock { $0.append(overloaded) }
        #expect(answers.withLock { $0 } == [.overloaded])
        try await running(commits) {}
    }

    @Test func `a workspace whose first submission is refused becomes idle again`() async throws {
        var limits = LaneLimits()
        limits.queueTransactionsMax = 0
        let commits = try commits(limits)
        #expect(await outcome(of: try submission(1, from: 1, [Sample.profile(11)]), by: commits) == .overloaded)
        // It stops only when no lane is left.
        try await running(commits) {}
        #expect(!commits.isCommitting(in: workspace))
    }

    @Test func `submissions handed over together keep their order, and each is refused separately`() async throws {
        try await register(1, 2)
        var limits = LaneLimits()
        limits.queueTransactionsMax = 2
        let commits = try commits(limits)
        let answers = Lock<[Int: PushOutcome]>([:])
        let pushes = try [(UInt64(1), Int64(1)), (1, 2), (2, 1)].map { client, first in
            try submission(client, from: first, [Sample.profile(client * 10 + UInt64(first))])
        }
        // The service does not run yet.
        var known = GroupCommit.KnownLanes()
        let entries = pushes.enumerated().map { index, push in
            GroupCommit.Entry(push, in: workspace) { outcome in answers.withLock { $0[index] = outcome } }
        }
        commits.submit(entries, knowing: &known)
        #expect(answers.withLock { $0 } == [2: .overloaded])
        try await running(commits) {
            try await eventually { answers.withLock({ $0.count }) >= 3 }
        }
        #expect(answers.withLock { answers in [0, 1].map { answers[$0]?.isSettled } } == [true, true])
        #expect(published.batches.withLock { $0.flatMap(\.records).map(\.key.id) } == [Sample.id(11), Sample.id(12)])
    }

    @Test func `a stopping service settles what it accepted and refuses the rest`() async throws {
        try await register(1)
        let commits = try commits()
        store.faults.withLock { $0.isHeld = true }
        let group = ServiceGroup(configuration: .init(services: [commits], logger: Logger(label: "test")))
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            async let accepted = outcome(of: try submission(1, from: 1, [Sample.profile(11)]), by: commits)
            await store.tried(1)
            await group.triggerGracefulShutdown()
            // The trigger reaches the service in another task; submissions before it are still accepted.
            try await eventually { commits.lanes.withLock({ $0.isClosed }) }
            let late = Lock<PushOutcome?>(nil)
            commits.submit(try submission(1, from: 2, [Sample.profile(12)]), in: workspace) { outcome in
                late.withLock { $0 = outcome }
            }
            #expect(late.withLock { $0 } == .unavailable)
            store.release()
            #expect(try await accepted.isSettled)
            try await tasks.waitForAll()
        }
    }
}
