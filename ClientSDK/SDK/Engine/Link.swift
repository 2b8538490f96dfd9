import TidemarkLock

/// The engine's connection, open or being opened. Sending on a dead one is not an error: its reader reports the end.
///
/// Each opening is an attempt with a number. Closing ends the attempt as well: a connection or message of an earlier
/// attempt is ignored. Otherwise a connection that opens late would replace the current one, and the machine would wait
/// for answers on a link that it cannot use.
///
/// Messages to send wait in a queue for the connection's own task. A network that accepts no data then blocks nothing
/// else, least of all the machine, which has to notice it.
final class Link: Sendable {
    private struct State {
        var attempt: UInt64 = 0
        var connection: (any TransportConnection)?
        var queue: AsyncStream<[UInt8]>.Continuation?
        /// The number of messages in the queue.
        var waiting = 0
    }

    /// The largest number of messages in the queue. The machine's own bounds keep to fewer.
    static let waitingMax = 1_024
    /// An ephemeral message is dropped when this many messages are in the queue.
    static let waitingBeforeEphemeralMax = 16

    private let state = Lock(State())

    /// Begins a new attempt, which replaces the current one, and returns its number.
    func begin() -> UInt64 {
        let (attempt, queue) = state.withLock { state in
            defer { state = State(attempt: state.attempt + 1) }
            return (state.attempt + 1, state.queue)
        }
        queue?.finish()
        return attempt
    }

    /// Returns the messages to send over the connection, each to be confirmed by `sent`. Returns `nil` when the attempt
    /// has ended; the caller then closes the connection.
    func establish(_ connection: any TransportConnection, by attempt: UInt64) -> AsyncStream<[UInt8]>? {
        let (messages, queue) = AsyncStream.makeStream(of: [UInt8].self)
        return state.withLock { state in
            guard state.attempt == attempt else { return nil }
            (state.connection, state.queue) = (connection, queue)
            return messages
        }
    }

    func isCurrent(_ attempt: UInt64) -> Bool { state.withLock { $0.attempt == attempt } }

    /// Puts a message into the queue; returns false when the queue is full.
    func send(_ bytes: [UInt8]) -> Bool { put(bytes, waitingMax: Self.waitingMax) }

    /// Sends a message that is useless later: it is dropped when many messages wait before it.
    func sendEphemeral(_ bytes: [UInt8]) { _ = put(bytes, waitingMax: Self.waitingBeforeEphemeralMax) }

    /// Puts a message into the queue. Only the engine's loop calls it, so that the order is that of the calls.
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

    /// Notes that a message of the attempt was handed to the system.
    func sent(by attempt: UInt64) {
        state.withLock { if $0.attempt == attempt { $0.waiting -= 1 } }
    }

    /// Ends the attempt and returns its connection, if there was one, for the caller to close.
    func end() -> (any TransportConnection)? {
        let (connection, queue) = state.withLock { state in
            defer { state = State(attempt: state.attempt + 1) }
            return (state.connection, state.queue)
        }
        queue?.finish()
        return connection
    }
}
