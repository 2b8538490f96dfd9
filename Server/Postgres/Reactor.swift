import Synchronization

/// The door to the reactor's thread: a bounded inbox and a wake-up, usable from anywhere.
final class Reactor: Sendable {
    enum Command: Sendable {
        case adopt(LibpqConnection)
        case submit(RoundTrip)
        /// Gives a connection up, with whatever is in flight on it.
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
    private let inbox = Mutex(Inbox())
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

    /// Other commands: at most a few for each connection, so the bound does not apply to them.
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
        // Whoever finds the inbox empty wakes the reactor; the others ride along, since it takes all at once.
        if case .taken(isFirst: true) = admission { signal.wake() }
        return admission
    }

    /// For the reactor's thread: everything posted so far.
    func takeCommands() -> [Command] {
        inbox.withLock { inbox in
            defer { inbox.commands = [] }
            return inbox.commands
        }
    }

    /// For the reactor's thread, as its last act: refuses what comes from now on.
    func close() -> [Command] {
        inbox.withLock { inbox in
            inbox.isClosed = true
            defer { inbox.commands = [] }
            return inbox.commands
        }
    }
}
