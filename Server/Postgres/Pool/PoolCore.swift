import Logging
import TidemarkLock

/// The state that the pool, its leases and its threads share.
final class PoolCore: Sendable {
    typealias Ticket = CheckedContinuation<LinkID, any Error>

    private struct State {
        var queue: LeaseQueue<Ticket>
        var asked: UInt64 = 0
        /// The reason why there is no connection, for callers that wait in vain.
        var lastFailure: PostgresError?
        var drainDeadline: ContinuousClock.Instant?
    }

    let configuration: PostgresConfiguration
    let logger: Logger
    let reactor: Reactor
    private let dialer: Dialer
    private let state: Lock<State>

    init(_ configuration: PostgresConfiguration, _ logger: Logger) throws(PostgresError) {
        self.configuration = configuration
        self.logger = logger
        reactor = try Reactor(inboxMax: configuration.inboxMax)
        dialer = try Dialer(configuration)
        state = Lock(State(queue: LeaseQueue(waitersMax: configuration.waitersMax)))
    }

    /// Runs both threads; returns when the reactor's has ended.
    func run() async throws(PostgresError) {
        do {
            try PosixThread.start { [self] in
                dialer.run(delivered: { reactor.send(.adopt($0)) }, failed: dialFailed)
            }
            dialer.order(configuration.connections)
            try await PosixThread.run { [self] in
                var loop = ReactorLoop(reactor, ReactorEvents(linkReady: linkReady, linkLost: linkLost, tick: tick))
                loop.run()
                return .success(())
            }
        } catch {
            dialer.stop()
            throw error as? PostgresError ?? .unavailable("the reactor could not start")
        }
        dialer.stop()
    }

    /// Refuses new leases and ends the threads once every lease is back, or after one operation timeout.
    func drain() {
        let (refused, isDrained) = state.withLock { state in
            let refused = state.queue.drain()
            if state.drainDeadline == nil {
                state.drainDeadline = ContinuousClock.now + configuration.operationTimeout
            }
            return (refused, state.queue.isDrained)
        }
        for ticket in refused { ticket.resume(throwing: PostgresError.closed) }
        if isDrained { reactor.send(.stop) }
    }

    /// Ends the threads at once; round trips in flight fail.
    func stop() {
        drain()
        reactor.send(.stop)
    }

    /// True when no caller waits for a connection that a joiner would hold longer, and the pool is not shutting down.
    var hasTimeForJoiners: Bool { state.withLock { $0.queue.isOpen && $0.queue.waiting == 0 } }

    var snapshot: PostgresPool.Snapshot {
        state.withLock { state in
            PostgresPool.Snapshot(
                connected: state.queue.connected, leased: state.queue.leased.count, waiting: state.queue.waiting)
        }
    }
}

extension PoolCore {
    /// Leases a connection, at once or in turn.
    func lease() async throws -> LinkID {
        let number = state.withLock { state in
            state.asked += 1
            return state.asked
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let answer = state.withLock { state in
                    state.queue.request(
                        number: number, deadline: ContinuousClock.now + configuration.leaseTimeout,
                        ticket: continuation)
                }
                switch answer {
                case .granted(let link): continuation.resume(returning: link)
                case .refused(let error): continuation.resume(throwing: error)
                // The handler may have run before the ticket was queued, and found nothing to withdraw.
                case .queued: if Task.isCancelled { withdraw(number) }
                }
            }
        } onCancel: {
            withdraw(number)
        }
    }

    private func withdraw(_ number: UInt64) {
        let ticket = state.withLock { $0.queue.withdraw(number) }
        ticket?.resume(throwing: CancellationError())
    }

    /// Returns a sound connection to the pool.
    func giveBack(_ link: LinkID) {
        let (next, isDrained) = state.withLock { state -> (Ticket?, Bool) in
            // It may have been lost in the meantime.
            guard state.queue.isLeased(link) else { return (nil, state.queue.isDrained) }
            let next = state.queue.free(link)
            return (next, state.queue.isDrained)
        }
        next?.resume(returning: link)
        if isDrained { reactor.send(.stop) }
    }

    /// Returns a connection that nobody should use again. It is treated as leased until the reactor has closed it.
    func giveUp(_ link: LinkID) {
        reactor.send(.drop(link))
    }
}

extension PoolCore {
    private func linkReady(_ link: LinkID) {
        logger.debug("database connection made", metadata: ["link": "\(link.value)"])
        let next = state.withLock { state in
            state.lastFailure = nil
            return state.queue.free(link)
        }
        next?.resume(returning: link)
    }

    private func linkLost(_ link: LinkID, _ error: PostgresError, _ lifetime: Duration, _ wasAsked: Bool) {
        let (isOpen, isDrained) = state.withLock { state in
            state.queue.lose(link)
            return (state.queue.isOpen, state.queue.isDrained)
        }
        if !wasAsked {
            logger.info("database connection lost", metadata: ["link": "\(link.value)", "error": "\(error)"])
        }
        if isOpen, wasAsked {
            dialer.order(1)
        } else if isOpen {
            dialer.replace(livedFor: lifetime)
        }
        if isDrained { reactor.send(.stop) }
    }

    private func dialFailed(_ error: PostgresError) {
        // Logged once, not at each attempt.
        let isNews = state.withLock { state in
            defer { state.lastFailure = error }
            return state.lastFailure == nil
        }
        logger.log(level: isNews ? .info : .debug, "database not reachable", metadata: ["error": "\(error)"])
    }

    private func tick(_ now: ContinuousClock.Instant) {
        let (expired, reason, mustStop) = state.withLock { state in
            let reason: PostgresError =
                state.queue.connected > 0
                ? .overloaded("all \(state.queue.connected) connections stayed in use")
                : state.lastFailure ?? .unavailable("no connection was made in time")
            return (state.queue.expire(now), reason, state.drainDeadline.map { $0 <= now } ?? false)
        }
        for ticket in expired { ticket.resume(throwing: reason) }
        if mustStop { reactor.send(.stop) }
    }
}
