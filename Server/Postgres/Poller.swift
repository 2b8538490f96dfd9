import CPostgres
import Glibc

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
