package import Logging
import TidemarkLock
import TidemarkModel

/// Passes a store's events to its logger and its listeners, and counts them.
package final class SyncJournal: Sendable {
    /// The number of events that wait for a slow listener; beyond it the oldest are dropped.
    package static let bufferMax = 256

    private struct State {
        var rounds = RoundLog()
        var metrics = SyncMetrics()
        var alerts = AlertLimits()
        var listeners: [Int: AsyncStream<SyncLogEvent>.Continuation] = [:]
        var nextID = 0
    }

    private let logger: Logger
    private let state = Lock(State())

    init(logger: Logger) { self.logger = logger }

    /// Reports an event.
    package func note(_ event: SyncLogEvent) {
        logger.log(level: event.level, event.message, metadata: event.metadata)
        // Not under the lock: a listener's executor may run the listener here.
        let listeners = state.withLock { state in
            state.metrics.count(event)
            return Array(state.listeners.values)
        }
        for listener in listeners { listener.yield(event) }
    }

    /// The counts of the events so far.
    var metrics: SyncMetrics { state.withLock { $0.metrics } }

    var alerts: AlertLimits {
        get { state.withLock { $0.alerts } }
        set { state.withLock { $0.alerts = newValue } }
    }

    /// Counts a request for older records.
    func askedOlder(isHere: Bool) {
        state.withLock { state in
            state.metrics.olderAsked += 1
            if !isHere { state.metrics.olderMissed += 1 }
        }
    }

    /// Counts a look at a blob.
    func askedBlob(isHere: Bool) {
        state.withLock { state in
            state.metrics.blobsAsked += 1
            if !isHere { state.metrics.blobsMissed += 1 }
        }
    }

    /// Counts a message that was sent or received.
    func carried(sent: Int, received: Int) {
        state.withLock { state in
            state.metrics.messagesSent += sent > 0 ? 1 : 0
            state.metrics.bytesSent += Int64(sent)
            state.metrics.messagesReceived += received > 0 ? 1 : 0
            state.metrics.bytesReceived += Int64(received)
        }
    }

    /// Reports the events of a new phase of the engine.
    func entered(_ phase: ConnectionState, now: Milliseconds) {
        if let event = state.withLock({ $0.rounds.on(phase, now: now) }) { note(event) }
    }

    /// The events from now on; ends with its task or its last reference.
    func values() -> AsyncStream<SyncLogEvent> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: SyncLogEvent.self, bufferingPolicy: .bufferingNewest(Self.bufferMax))
        let id = state.withLock { state in
            state.nextID += 1
            state.listeners[state.nextID] = continuation
            return state.nextID
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { _ = $0.listeners.removeValue(forKey: id) }
        }
        return stream
    }
}

extension SyncStore {
    /// The events of the store's synchronisation from now on: for a log view, for counting, for support.
    ///
    ///     for await event in store.events {
    ///         if case .merged(let decision) = event { print(decision.fields, decision.resolution) }
    ///     }
    ///
    /// Each call returns a separate stream, which ends with its task. A slow reader gets the newest 256 events.
    public var events: AsyncStream<SyncLogEvent> { journal.values() }
}

extension Logger {
    /// A logger without output: the default of a library until it is given one.
    package static var silent: Logger { Logger(label: "tidemark.silent") { _ in SwiftLogNoOpLogHandler() } }
}
