import TidemarkLock

/// The entry to the reactor's thread: a bounded inbox and a wake-up, usable from anywhere.
final class Reactor: Sendable {
    enum Command: Sendable {
        case adopt(LibpqConnection)
        case submit(RoundTrip)
        /// Drops a connection, with all round trips in flight on it.
        case drop(LinkID)
        case stop
    }

    private struct Inbox {
        var commands: [Command] = []
        var isClosed = false
    }

    private enum Admission {
        case taken(isFirst: Bool)
        case full
        case closed
    }

    let signal: WakeSignal
    private let inbox = Lock(Inbox())
    private let inboxMax: Int

    init(inboxMax: Int) throws(PostgresError) {
        self.inboxMax = inboxMax
        signal = try WakeSignal()
    }

    /// Hands a round trip over; refuses it at once, settled, when the inbox is full or the reactor has ended.
    func submit(_ roundTrip: RoundTrip) {
        switch post(.submit(roundTrip), isBounded: true) {
        case .taken: break
        case .full: roundTrip.settle(.failure(PostgresError.overloaded("\(inboxMax) round trips wait to be sent")))
        case .closed: roundTrip.settle(.failure(PostgresError.closed), .unusable)
        }
    }

    /// Posts other commands: at most a few for each connection, so the bound does not apply to them.
    func send(_ command: Command) {
        _ = post(command, isBounded: false)
    }

    private func post(_ command: Command, isBounded: Bool) -> Admission {
        let admission: Admission = inbox.withLock { inbox in
            if inbox.isClosed { return .closed }
            if isBounded, inbox.commands.count >= inboxMax { return .full }
            inbox.commands.append(command)
            return .taken(isFirst: inbox.commands.count == 1)
        }
        // Only a sender that finds the inbox empty wakes the reactor, which takes all commands at once.
        if case .taken(isFirst: true) = admission { signal.wake() }
        return admission
    }

    /// Takes everything posted so far. For the reactor's thread.
    func takeCommands() -> [Command] {
        inbox.withLock { inbox in
            defer { inbox.commands = [] }
            return inbox.commands
        }
    }

    /// Refuses everything posted from now on. The last act of the reactor's thread.
    func close() -> [Command] {
        inbox.withLock { inbox in
            inbox.isClosed = true
            defer { inbox.commands = [] }
            return inbox.commands
        }
    }
}

/// The reactor's reports to its owner, on the reactor's thread.
struct ReactorEvents: Sendable {
    let linkReady: @Sendable (LinkID) -> Void
    /// `wasAsked`: dropped on our own request, so it says nothing about the server.
    let linkLost: @Sendable (_ link: LinkID, _ error: PostgresError, _ lifetime: Duration, _ wasAsked: Bool) -> Void
    /// Called some times a second, for deadlines.
    let tick: @Sendable (ContinuousClock.Instant) -> Void
}

/// The reactor's thread: drives every connection of the pool and blocks only for events.
struct ReactorLoop: ~Copyable {
    /// The longest delay in noticing a deadline.
    private static let tickMilliseconds: CInt = 100
    private static let wakeToken = UInt64.max

    private let reactor: Reactor
    private let events: ReactorEvents
    private var poller = Poller()
    private var links: [LinkID: Pipeline] = [:]
    private var linksMade: UInt64 = 0
    private var isStopping = false

    init(_ reactor: Reactor, _ events: ReactorEvents) {
        self.reactor = reactor
        self.events = events
        poller.add(reactor.signal.descriptor, token: Self.wakeToken)
    }

    /// Runs until the stop command, then drops every connection.
    mutating func run() {
        var nextTick = ContinuousClock.now
        var ready: [UInt64] = []
        while !isStopping {
            ready.removeAll(keepingCapacity: true)
            poller.wait(atMost: Self.tickMilliseconds) { ready.append($0) }
            for token in ready {
                if token == Self.wakeToken { obeyCommands() } else { advance(LinkID(value: token)) }
            }
            let now = ContinuousClock.now
            if now >= nextTick {
                expire(now)
                events.tick(now)
                nextTick = now + .milliseconds(Int(Self.tickMilliseconds))
            }
        }
        for link in Array(links.keys) {
            lose(link, .connectionLost("the pool was shut down"), wasAsked: true)
        }
        for case .submit(let roundTrip) in reactor.close() {
            roundTrip.settle(.failure(PostgresError.closed), .unusable)
        }
    }

    private mutating func obeyCommands() {
        reactor.signal.drain()
        for command in reactor.takeCommands() {
            switch command {
            case .adopt(let connection): adopt(connection)
            case .submit(let roundTrip): submit(roundTrip)
            case .drop(let link): lose(link, .connectionLost("given up by the client"), wasAsked: true)
            case .stop: isStopping = true
            }
        }
    }
}

extension ReactorLoop {
    private mutating func adopt(_ connection: LibpqConnection) {
        linksMade += 1
        let link = LinkID(value: linksMade)
        guard let socket = connection.socket, let pipeline = Pipeline(connection, made: .now) else {
            events.linkLost(link, .unavailable("the new connection cannot be driven"), .zero, false)
            return
        }
        poller.add(socket, token: link.value)
        links[link] = pipeline
        events.linkReady(link)
    }

    private mutating func submit(_ roundTrip: RoundTrip) {
        guard let pipeline = links[roundTrip.link] else {
            let error = PostgresError.unavailable("the connection was lost before sending")
            roundTrip.settle(.failure(error), .unusable)
            return
        }
        continueDriving(roundTrip.link, pipeline) { $0.submit(roundTrip) }
    }

    /// Advances a connection; does nothing if it was lost earlier in the same round of events.
    private mutating func advance(_ link: LinkID) {
        guard let pipeline = links[link] else { return }
        continueDriving(link, pipeline) { $0.advance() }
    }

    private mutating func continueDriving(_ link: LinkID, _ pipeline: Pipeline, _ step: (Pipeline) -> Bool) {
        let watchedWriting = pipeline.wantsWriting
        // A socket that libpq has closed must not be watched: its number may be another file's at the next wait.
        guard step(pipeline), pipeline.connection.socket != nil else {
            lose(link, .connectionLost(pipeline.connection.failureReason), wasAsked: false)
            return
        }
        guard pipeline.wantsWriting != watchedWriting else { return }
        poller.setWatchesWriting(pipeline.wantsWriting, token: link.value)
    }

    private mutating func expire(_ now: ContinuousClock.Instant) {
        let late = links.filter { _, pipeline in pipeline.deadline.map { $0 <= now } ?? false }
        for link in late.keys {
            lose(link, .connectionLost("an earlier request got no answer in time"), first: .timeout, wasAsked: false)
        }
    }

    private mutating func lose(
        _ link: LinkID, _ error: PostgresError, first: PostgresError? = nil, wasAsked: Bool
    ) {
        guard let pipeline = links.removeValue(forKey: link) else { return }
        poller.remove(token: link.value)
        pipeline.abandon(error, first: first ?? error)
        events.linkLost(link, error, ContinuousClock.now - pipeline.made, wasAsked)
    }
}
