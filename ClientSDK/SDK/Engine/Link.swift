import TidemarkLock

/// The engine's connection, present or on its way. Sending on a dead one is not an error: its reader tells of the end.
///
/// Each opening is an attempt with a number. Closing ends the attempt as well: what an earlier one still brings along,
/// a connection or a message, belongs to nobody. Otherwise a connection that opens late would take the place of the one
/// that the machine talks on, and the machine would wait for answers on a link that it cannot use.
///
/// What is sent waits in a queue for the connection's own task. A network that takes nothing then holds up nobody else:
/// least of all the machine, which has to notice that.
final class Link: Sendable {
    private struct State {
        var attempt: UInt64 = 0
        var connection: (any TransportConnection)?
        var queue: AsyncStream<[UInt8]>.Continuation?
        /// Messages that are in the queue.
        var waiting = 0
    }

    /// Messages that may wait to be sent. The machine's own bounds keep to fewer.
    static let waitingMax = 1_024
    /// Messages that may wait before one that is not worth waiting for.
    static let waitingBeforeEphemeralMax = 16

    private let state = Lock(State())

    /// Begins the attempt that counts from now on.
    func begin() -> UInt64 {
        let (attempt, queue) = state.withLock { state in
            defer { state = State(attempt: state.attempt + 1) }
            return (state.attempt + 1, state.queue)
        }
        queue?.finish()
        return attempt
    }

    /// What is to be sent over the connection from here on, each to be confirmed by `sent`; `nil` when the connection came
    /// too late: it is then the caller's to close.
    func establish(_ connection: any TransportConnection, by attempt: UInt64) -> AsyncStream<[UInt8]>? {
        let (messages, queue) = AsyncStream.makeStream(of: [UInt8].self)
        return state.withLock { state in
            guard state.attempt == attempt else { return nil }
            (state.connection, state.queue) = (connection, queue)
            return messages
        }
    }

    func isCurrent(_ attempt: UInt64) -> Bool { state.withLock { $0.attempt == attempt } }

    /// Puts a message into the queue; false when too many wait there.
    func send(_ bytes: [UInt8]) -> Bool { put(bytes, waitingMax: Self.waitingMax) }

    /// Sends what is worth nothing later: dropped when much waits before it.
    func sendEphemeral(_ bytes: [UInt8]) { _ = put(bytes, waitingMax: Self.waitingBeforeEphemeralMax) }

    /// Only the engine's loop puts anything in, so that the order is that of the calls.
    private func put(_ bytes: [UInt8], waitingMax: Int) -> Bool {
        let (queue, isFull) = state.withLock { state in
            let isFull = state.waiting >= waitingMax
            if state.queue != nil, !isFull { state.waiting += 1 }
            return (state.queue, isFull)
        }
        guard let queue else { return true }
        if !isFull { queue.yield(bytes) }
        return !isFull
    }

    /// A message of the attempt was handed to the system.
    func sent(by attempt: UInt64) {
        state.withLock { if $0.attempt == attempt { $0.waiting -= 1 } }
    }

    /// Ends the attempt; its connection, if there was one, is the caller's to close.
    func end() -> (any TransportConnection)? {
        let (connection, queue) = state.withLock { state in
            defer { state = State(attempt: state.attempt + 1) }
            return (state.connection, state.queue)
        }
        queue?.finish()
        return connection
    }
}
