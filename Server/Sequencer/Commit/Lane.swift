import TidemarkLock
import TidemarkModel
import TidemarkStore

/// The state shared by a workspace's submitters and the one task that serves it: the queue, and the events that wake
/// the task. Callable on any thread. Its lock is for this workspace alone, and nothing is planned, encoded or called
/// under it.
final class Lane: Sendable {
    /// The callback for the answer. It has a type of its own, since a bare function would be wrapped anew each time the queue
    /// passes it on.
    struct Ticket: Sendable {
        let answer: GroupCommit.Completion
    }

    /// An event that the serving task waits for.
    enum Event: Sendable {
        case read(Int, Result<Reading, StoreError>)
        case committed(Int, Result<Commitment, StoreError>)
        /// The queue has as many transactions as the task waits for.
        case filled
        /// The lane is closed and idle.
        case closed
    }

    private struct State {
        var queue: LaneQueue<Ticket>
        /// Bounded by the batches in flight: two.
        var events: [Event] = []
        var waiter: CheckedContinuation<Event, Never>?
        /// The number of queued transactions at which the waiter is woken; `nil` when it waits for reports only.
        var wakesAt: Int?
        /// True when the serving task has nothing to do.
        var isResting = true
        var isClosed = false
    }

    let workspace: WorkspaceID
    private let state: Lock<State>

    init(_ workspace: WorkspaceID, limits: LaneLimits) {
        self.workspace = workspace
        state = Lock(State(queue: LaneQueue(limits: limits)))
    }

    // MARK: Submitting

    enum Admission {
        case queued
        case full
        /// The lane is closed: there may be another one for the workspace.
        case closed
    }

    func submit(_ submission: Submission, _ completion: @escaping GroupCommit.Completion) -> Admission {
        let (admission, waiter) = state.withLock { state -> (Admission, CheckedContinuation<Event, Never>?) in
            guard !state.isClosed else { return (.closed, nil) }
            guard state.queue.append(submission, ticket: Ticket(answer: completion)) else { return (.full, nil) }
            state.isResting = false
            guard let waiter = state.waiter, let wakesAt = state.wakesAt, state.queue.waiting >= wakesAt else {
                return (.queued, nil)
            }
            (state.waiter, state.wakesAt) = (nil, nil)
            return (.queued, waiter)
        }
        waiter?.resume(returning: .filled)
        return admission
    }

    /// True when submissions wait, are being committed, or are written and not yet published.
    var isBusy: Bool { state.withLock { !$0.isResting } }

    /// Stops accepting submissions; the serving task ends when its work is done.
    func close() { _ = close(ifIdle: false) }

    /// Closes the lane if it is idle; otherwise returns false and does nothing.
    func closeIfIdle() -> Bool { close(ifIdle: true) }

    private func close(ifIdle: Bool) -> Bool {
        let (isClosed, waiter) = state.withLock { state -> (Bool, CheckedContinuation<Event, Never>?) in
            guard state.isResting || !ifIdle else { return (false, nil) }
            state.isClosed = true
            guard state.isResting, let waiter = state.waiter else { return (true, nil) }
            (state.waiter, state.wakesAt) = (nil, nil)
            return (true, waiter)
        }
        waiter?.resume(returning: .closed)
        return isClosed
    }

    /// Removes and returns the tickets that will not be served.
    func drain() -> [Ticket] {
        state.withLock { state in
            var tickets: [Ticket] = []
            while !state.queue.isEmpty { tickets += state.queue.take().map(\.ticket) }
            state.isResting = true
            return tickets
        }
    }

    // MARK: Serving

    /// The number of waiting transactions.
    var waiting: Int { state.withLock { $0.queue.waiting } }

    /// True when the lane accepts nothing any more.
    var isClosed: Bool { state.withLock { $0.isClosed } }

    func take() -> [LaneQueue<Ticket>.Element] { state.withLock { $0.queue.take() } }

    func putBack(_ elements: [LaneQueue<Ticket>.Element], cut: ClientID?) {
        state.withLock { $0.queue.putBack(elements, cut: cut) }
    }

    /// Reports a result of the store to the serving task. Callable on any thread.
    func report(_ event: Event) {
        let waiter = state.withLock { state -> CheckedContinuation<Event, Never>? in
            guard let waiter = state.waiter else {
                state.events.append(event)
                return nil
            }
            (state.waiter, state.wakesAt) = (nil, nil)
            return waiter
        }
        waiter?.resume(returning: event)
    }

    /// Waits for a report, or for this number of queued transactions. Not cancelled: every read and commit ends, and a
    /// committed batch must be delivered.
    func next(orAt wakesAt: Int?) async -> Event {
        await withCheckedContinuation { continuation in
            let event = state.withLock { state -> Event? in
                if !state.events.isEmpty { return state.events.removeFirst() }
                if let wakesAt, state.queue.waiting >= wakesAt { return .filled }
                (state.waiter, state.wakesAt) = (continuation, wakesAt)
                return nil
            }
            if let event { continuation.resume(returning: event) }
        }
    }

    /// Waits until there is work; false when there never will be.
    func rest() async -> Bool {
        let event = await withCheckedContinuation { (continuation: CheckedContinuation<Event, Never>) in
            let event = state.withLock { state -> Event? in
                guard state.queue.isEmpty else { return .filled }
                state.isResting = true
                guard !state.isClosed else { return .closed }
                (state.waiter, state.wakesAt) = (continuation, 1)
                return nil
            }
            if let event { continuation.resume(returning: event) }
        }
        if case .closed = event { return false }
        return true
    }
}

/// The waits of a lane before it tries an unavailable store again.
package struct CommitTiming: Hashable, Sendable {
    /// The wait after the first failure; doubled with each further one.
    package var retryFirst: Duration = .milliseconds(50)
    /// The longest wait.
    package var retryMax: Duration = .seconds(2)

    package init() {}

    /// Returns the wait after the given number of failures in a row, from 1.
    func wait(afterFailures failures: Int) -> Duration {
        min(retryMax, retryFirst * (1 << min(max(failures - 1, 0), 16)))
    }
}

/// Observes the results of batches, for metrics. Called on the lanes' tasks; must not block.
package struct CommitObserver: Sendable {
    /// Called when the store has written a batch, with the time that it took.
    package var written: @Sendable (Duration) -> Void = { _ in }
    /// Called with the outcomes of answered submissions. `hasBatch` is false if all of them were settled before, or
    /// nothing was.
    package var answered: @Sendable (_ outcomes: [PushOutcome], _ hasBatch: Bool) -> Void = { _, _ in }

    package init() {}
}

extension Clock where Duration == Swift.Duration {
    /// Runs the body and measures its time by this clock.
    func timed<Value>(_ body: () async -> Value) async -> (value: Value, took: Duration) {
        let begun = now
        let value = await body()
        return (value, begun.duration(to: now))
    }
}
