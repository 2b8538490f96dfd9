import DequeModule

/// Who has which connection, and who waits for one: a pure machine.
///
/// Connections go to waiters strictly in the order in which they asked; the most recently used idle one goes first, so
/// that few backends stay warm. While anyone waits, nothing is idle.
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
    /// Not shut down.
    var isOpen: Bool { phase == .open }
    /// Shut down, and every lease has come back.
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

    /// A connection became free, newly made or returned: the first waiter's, whose ticket is returned, or idle.
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

    /// A connection is gone.
    mutating func lose(_ link: LinkID) {
        leased.remove(link)
        idle.removeAll { $0 == link }
    }

    /// A waiter gave up; `nil` if it had its connection already.
    mutating func withdraw(_ number: UInt64) -> Ticket? {
        guard let index = waiters.firstIndex(where: { $0.number == number }) else { return nil }
        return waiters.remove(at: index).ticket
    }

    /// Waiters whose time is up. All wait equally long, so they stand in the order of their deadlines.
    mutating func expire(_ now: ContinuousClock.Instant) -> [Ticket] {
        var expired: [Ticket] = []
        while let first = waiters.first, first.deadline <= now, let waiter = waiters.popFirst() {
            expired.append(waiter.ticket)
        }
        return expired
    }

    /// Refuses everyone from now on, and those who wait.
    mutating func drain() -> [Ticket] {
        phase = .draining
        defer { waiters = Deque() }
        return waiters.map(\.ticket)
    }
}
