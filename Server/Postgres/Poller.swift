import CPostgres
import Glibc
import TidemarkLock

/// Readiness of many sockets for one thread. Only this file knows how the system reports it.
package struct Poller: ~Copyable {
    private let descriptor: CInt
    private var events = [epoll_event](repeating: epoll_event(), count: Self.eventsPerWait)
    private static let eventsPerWait = 64

    /// - Throws: `PostgresError.unavailable` if the process has no file descriptor left.
    package init() throws(PostgresError) {
        descriptor = epoll_create1(CInt(EPOLL_CLOEXEC))
        guard descriptor >= 0 else { throw .unavailable("the process has no file descriptor left") }
    }

    deinit { close(descriptor) }

    /// Reports the socket, under this token, whenever it is readable; false if the system refuses it.
    package func add(_ socket: CInt, token: UInt64) -> Bool {
        control(EPOLL_CTL_ADD, socket, token, EPOLLIN.rawValue)
    }

    /// Also reports (or no longer reports) that the socket can be written.
    package func setWatchesWriting(_ watches: Bool, _ socket: CInt, token: UInt64) -> Bool {
        control(EPOLL_CTL_MOD, socket, token, watches ? EPOLLIN.rawValue | EPOLLOUT.rawValue : EPOLLIN.rawValue)
    }

    /// Must be called before the socket is closed.
    package func remove(_ socket: CInt) {
        _ = control(EPOLL_CTL_DEL, socket, 0, 0)
    }

    /// Waits for events and hands over their tokens; none after the time is up or after a signal.
    package mutating func wait(atMost milliseconds: CInt, _ ready: (UInt64) -> Void) {
        let count = epoll_wait(descriptor, &events, CInt(Self.eventsPerWait), milliseconds)
        guard count > 0 else { return }
        for event in events.prefix(Int(count)) { ready(event.data.u64) }
    }

    private func control(_ operation: CInt, _ socket: CInt, _ token: UInt64, _ interest: UInt32) -> Bool {
        var event = epoll_event()
        event.events = interest
        event.data.u64 = token
        return epoll_ctl(descriptor, operation, socket, &event) == 0
    }
}

/// Wakes one thread that waits in `poll` or `epoll`, from any thread; can also tell it, for good, to stop.
package final class WakeSignal: Sendable {
    /// Readable while a wake-up is pending.
    package let descriptor: CInt
    private let stopped = Lock<Bool>(false)

    /// - Throws: `PostgresError.unavailable` if the process has no file descriptor left.
    package init() throws(PostgresError) {
        descriptor = eventfd(0, CInt(EFD_NONBLOCK | EFD_CLOEXEC))
        guard descriptor >= 0 else { throw .unavailable("the process has no file descriptor left") }
    }

    deinit { close(descriptor) }

    /// Never reset once true.
    var isStopped: Bool { stopped.current }

    /// From any thread.
    package func wake() {
        // A full counter already holds a wake-up, so a refused write loses nothing.
        var one: UInt64 = 1
        _ = write(descriptor, &one, 8)
    }

    func stop() {
        stopped.set(true)
        wake()
    }

    /// For the thread that waits: takes the wake-ups so far.
    package func drain() {
        var pending: UInt64 = 0
        _ = read(descriptor, &pending, 8)
    }
}

/// What a thread may wait for on a socket.
enum SocketInterest {
    case reading
    case writing
    case both

    var pollEvents: Int16 {
        switch self {
        case .reading: Int16(POLLIN)
        case .writing: Int16(POLLOUT)
        case .both: Int16(POLLIN | POLLOUT)
        }
    }
}

/// Why a wait ended.
enum WaitEnd {
    case ready
    case woken
    case stopped
    case timedOut
}

/// Blocking waits, for threads of this module only.
extension WakeSignal {
    /// Waits until the socket is ready, someone wakes this signal, or the deadline passes.
    ///
    /// A wake-up is consumed by the wait that reports it. A socket error counts as ready: the next libpq call names it.
    func wait(
        for socket: CInt? = nil, _ interest: SocketInterest = .reading, until deadline: ContinuousClock.Instant?
    ) -> WaitEnd {
        var watched = [pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)]
        if let socket { watched.append(pollfd(fd: socket, events: interest.pollEvents, revents: 0)) }
        while true {
            if isStopped { return .stopped }
            let count = poll(&watched, nfds_t(watched.count), Self.milliseconds(until: deadline))
            if isStopped { return .stopped }
            if count == 0 {
                if let deadline, ContinuousClock.now >= deadline { return .timedOut }
                continue
            }
            if count < 0 { continue }
            if watched.dropFirst().contains(where: { $0.revents != 0 }) { return .ready }
            drain()
            return .woken
        }
    }

    /// `poll`'s time: rounded up, so that a wait never spins through its last millisecond.
    static func milliseconds(until deadline: ContinuousClock.Instant?) -> CInt {
        guard let deadline else { return -1 }
        let left = deadline - ContinuousClock.now
        guard left > .zero else { return 0 }
        let (seconds, attoseconds) = left.components
        guard seconds < 86_400 else { return 86_400_000 }
        return CInt(seconds) * 1_000 + CInt((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}
