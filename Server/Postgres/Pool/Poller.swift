import Foundation

/// The readiness of a dozen sockets for one thread. Only this file knows the system's way to report it: `poll`, which
/// every system has. Each wait costs time for each socket, so it is not for thousands of them.
struct Poller: ~Copyable {
    private var watched: [pollfd] = []
    /// The token of each watched socket, at the same index.
    private var tokens: [UInt64] = []

    init() {}

    /// Reports the socket, under this token, whenever it is readable, in error or closed.
    mutating func add(_ socket: CInt, token: UInt64) {
        watched.append(pollfd(fd: socket, events: Int16(POLLIN), revents: 0))
        tokens.append(token)
    }

    /// Also reports (or no longer reports) that the socket can be written.
    mutating func setWatchesWriting(_ watches: Bool, token: UInt64) {
        guard let index = tokens.firstIndex(of: token) else { return }
        watched[index].events = Int16(watches ? POLLIN | POLLOUT : POLLIN)
    }

    /// Ends the watch. The socket may be closed already; a later one may have its number.
    mutating func remove(token: UInt64) {
        guard let index = tokens.firstIndex(of: token) else { return }
        watched.remove(at: index)
        tokens.remove(at: index)
    }

    /// Waits for events and passes on their tokens; none after the timeout or after a signal.
    ///
    /// A socket in error, closed by the peer or by this process, is reported at each wait until it is removed.
    mutating func wait(atMost milliseconds: CInt, _ ready: (UInt64) -> Void) {
        let count = poll(&watched, nfds_t(watched.count), milliseconds)
        guard count > 0 else { return }
        for (index, socket) in watched.enumerated() where socket.revents != 0 { ready(tokens[index]) }
    }
}
