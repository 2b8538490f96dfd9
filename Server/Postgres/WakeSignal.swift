import Foundation
import TidemarkLock

/// Wakes one thread that waits in `poll`, from any thread; can also stop it for good.
///
/// A pipe to itself. Its ends are closed on `exec` a moment after they are made: a child that is started in between
/// keeps two files open, which does no harm.
final class WakeSignal: Sendable {
    /// Readable while a wake-up is pending.
    let descriptor: CInt
    let writing: CInt
    private let stopped = Lock<Bool>(false)

    /// - Throws: `PostgresError.unavailable` if the process has no file descriptor left.
    init() throws(PostgresError) {
        var ends: [CInt] = [-1, -1]
        guard pipe(&ends) == 0 else { throw .unavailable("the process has no file descriptor left") }
        (descriptor, writing) = (ends[0], ends[1])
        for end in ends {
            guard fcntl(end, F_SETFD, FD_CLOEXEC) == 0, fcntl(end, F_SETFL, O_NONBLOCK) == 0 else {
                throw .unavailable("the system refuses to set up a pipe (error \(errno))")
            }
        }
    }

    deinit {
        close(descriptor)
        close(writing)
    }

    /// True once the signal is stopped; never reset.
    var isStopped: Bool { stopped.current }

    /// Wakes the waiting thread. From any thread.
    func wake() {
        // A full pipe already holds a wake-up, so a refused write loses nothing; a write that a signal interrupted
        // does.
        var one: UInt8 = 1
        while write(writing, &one, 1) < 0, errno == EINTR {}
    }

    func stop() {
        stopped.set(true)
        wake()
    }

    /// Takes the wake-ups so far. The waiting thread calls it before it looks for work, never after: a wake-up for work
    /// that arrived meanwhile may be among those taken.
    func drain() {
        var pending: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
        let size = MemoryLayout.size(ofValue: pending)
        while true {
            let count = read(descriptor, &pending, size)
            if count == size || (count < 0 && errno == EINTR) { continue }
            return
        }
    }
}

/// Conditions of a socket that a thread may wait for.
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

/// The reason why a wait ended.
enum WaitEnd {
    case ready
    case woken
    case stopped
    case timedOut
}

/// The blocking waits, for threads of this module only.
extension WakeSignal {
    /// Waits until the socket is ready, someone wakes this signal, or the deadline passes.
    ///
    /// A wake-up is consumed by the wait that reports it. A socket error is treated as ready: the next libpq call
    /// reports it.
    func wait(
        for socket: CInt? = nil, _ interest: SocketInterest = .reading, until deadline: ContinuousClock.Instant?
    ) -> WaitEnd {
        var watched = [pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)]
        if let socket { watched.append(pollfd(fd: socket, events: interest.pollEvents, revents: 0)) }
        while true {
            if isStopped { return .stopped }
            let count = poll(&watched, nfds_t(watched.count), Self.milliseconds(until: deadline))
            if isStopped { return .stopped }
            guard count > 0 else {
                // The time is up, or a signal interrupted the wait.
                if let deadline, ContinuousClock.now >= deadline { return .timedOut }
                continue
            }
            if watched.dropFirst().contains(where: { $0.revents != 0 }) { return .ready }
            drain()
            return .woken
        }
    }

    /// The timeout for `poll`, rounded up, so that a wait never spins through its last millisecond.
    static func milliseconds(until deadline: ContinuousClock.Instant?) -> CInt {
        guard let deadline else { return -1 }
        let left = deadline - ContinuousClock.now
        guard left > .zero else { return 0 }
        let (seconds, attoseconds) = left.components
        guard seconds < 86_400 else { return 86_400_000 }
        return CInt(seconds) * 1_000 + CInt((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}
