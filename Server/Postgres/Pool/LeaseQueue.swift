import DequeModule

/// The connections on lease and the callers that wait for one: a pure machine.
///
/// Waiters get connections strictly in the order in which they asked. The most recently used idle connection is lent
/// first, so that few backends stay warm. While a caller waits, no connection is idle.
struct LeaseQueue<Ticket> {
    struct Waiter {
        let number: UInt64
        let deadline: ContinuousClock.Instant
        let ticket: Ticket
    }

    enum Answer {
        case granted(LinkID)
        case queued
        case refused(PostgresError)
    }

    private enum Phase {
        case open
        case draining
    }

    private let waitersMax: Int
    private var phase = Phase.open
    private(set) var idle: [LinkID] = []
    private(set) var leased: Set<LinkID> = []
    private var waiters = Deque<Waiter>()

    init(waitersMax: Int) {
        self.waitersMax = waitersMax
    }

    var connected: Int { idle.count + leased.count }
    var waiting: Int { waiters.count }
    /// True until the pool is shut down.
    var isOpen: Bool { phase == .open }
    /// True when the pool is shut down and every lease has ended.
    var isDrained: Bool { phase == .draining && leased.isEmpty }

    /// Grants an idle connection or puts the caller last in the queue.
    ///
    /// - Parameter ticket: kept only when the answer is `queued`.
    mutating func request(number: UInt64, deadline: ContinuousClock.Instant, ticket: Ticket) -> Answer {
        guard phase == .open else { return .refused(.closed) }
        if let link = idle.popLast() {
            leased.insert(link)
            return .granted(link)
        }
        guard waiters.count < waitersMax else {
            return .refused(.overloaded("\(waitersMax) callers wait for a connection"))
        }
        waiters.append(Waiter(number: number, deadline: deadline, ticket: ticket))
        return .queued
    }

    /// Takes a free connection, newly made or returned. The first waiter gets it, and its ticket is returned; without
    /// waiters it becomes idle.
    mutating func free(_ link: LinkID) -> Ticket? {
        leased.remove(link)
        if let waiter = waiters.popFirst() {
            leased.insert(link)
            return waiter.ticket
        }
        idle.append(link)
        return nil
    }

    /// Whether the link is out on lease: false once it was lost.
    func isLeased(_ link: LinkID) -> Bool { leased.contains(link) }

    /// Removes a lost connection.
    mutating func lose(_ link: LinkID) {
        leased.remove(link)
        idle.removeAll { $0 == link }
    }

    /// Removes a waiter that gave up; `nil` if it already had its connection.
    mutating func withdraw(_ number: UInt64) -> Ticket? {
        guard let index = waiters.firstIndex(where: { $0.number == number }) else { return nil }
        return waiters.remove(at: index).ticket
    }

    /// Removes and returns waiters whose time is up. All wait equally long, so they are in the order of their
    /// deadlines.
    mutating func expire(_ now: ContinuousClock.Instant) -> [Ticket] {
        var expired: [Ticket] = []
        while let first = waiters.first, first.deadline <= now, let waiter = waiters.popFirst() {
            expired.append(waiter.ticket)
        }
        return expired
    }

    /// Refuses all callers from now on, and returns those that wait.
    mutating func drain() -> [Ticket] {
        phase = .draining
        defer { waiters = Deque() }
        return waiters.map(\.ticket)
    }
}
