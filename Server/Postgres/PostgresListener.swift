import CPostgres
package import Logging
import TidemarkLock

/// Listens on some channels over its own connection and thread, and reconnects by itself.
///
/// Notifications are hints: some are lost while disconnected or when the owner is slow, and events report this.
package final class PostgresListener: Sendable {
    /// The events for one consumer. The stream ends with ``run()``. When the buffer is full the latest are dropped, and
    /// `overflowed` follows.
    package let events: AsyncStream<PostgresListenerEvent>

    private let feed: AsyncStream<PostgresListenerEvent>.Continuation
    private let configuration: PostgresConfiguration
    private let channels: [String]
    private let logger: Logger
    private let signal: WakeSignal
    private let hasRun = Lock<Bool>(false)

    /// - Parameters:
    ///   - channels: names as `pg_notify` gets them: case matters, at most 63 bytes.
    ///   - bufferMax: events that may wait for the consumer.
    /// - Throws: `PostgresError.unavailable` if the process has no file descriptor left.
    package init(
        configuration: PostgresConfiguration, channels: [String], bufferMax: Int = 256, logger: Logger
    ) throws(PostgresError) {
        self.configuration = configuration
        self.channels = channels
        self.logger = logger
        signal = try WakeSignal()
        (events, feed) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(bufferMax))
    }

    /// Listens until ``shutdown()`` or until its task is cancelled. Once only: a second call returns at once.
    ///
    /// - Throws: `PostgresError.unavailable` if the system refuses a thread.
    package func run() async throws {
        guard !hasRun.exchange(true) else { return }
        defer { feed.finish() }
        try await withTaskCancellationHandler {
            try await PosixThread.run { [self] in
                listenUntilStopped()
                return .success(())
            }
        } onCancel: {
            signal.stop()
        }
    }

    /// Ends ``run()`` soon.
    package func shutdown() {
        signal.stop()
    }
}

/// The calls on the listener's thread.
extension PostgresListener {
    /// The time after which an overflow is reported again to an owner that is still not reading.
    private static let overflowRetry: Duration = .milliseconds(250)

    private func listenUntilStopped() {
        var backoff = Backoff(first: configuration.reconnectBackoffFirst, max: configuration.reconnectBackoffMax)
        var isReachable = true
        while !signal.isStopped {
            var listeningSince: ContinuousClock.Instant?
            do {
                let session = try connect()
                listeningSince = .now
                isReachable = true
                try deliver(from: session)
            } catch {
                if signal.isStopped { return }
                logger.log(
                    level: isReachable ? .info : .debug, "not listening to the database",
                    metadata: ["error": "\(error)"])
                isReachable = false
            }
            if let listeningSince, .now - listeningSince >= configuration.healthyLifetime { backoff.reset() }
            let end = ContinuousClock.now + backoff.next(jitter: .random(in: 0...1))
            while signal.wait(until: end) == .woken {}
        }
    }

    private func connect() throws(PostgresError) -> BlockingSession {
        let connection = try Dial.connect(configuration, signal: signal)
        let session = BlockingSession(connection: connection, signal: signal)
        let deadline = ContinuousClock.now + configuration.operationTimeout
        for channel in channels {
            guard let quoted = PQescapeIdentifier(connection.raw, channel, channel.utf8.count) else {
                throw .configuration("a channel name cannot be quoted")
            }
            defer { PQfreemem(quoted) }
            try session.execute("LISTEN \(String(cString: quoted))", until: deadline)
        }
        return session
    }

    /// Delivers until the connection is lost or the listener is stopped: both are errors.
    private func deliver(from session: BlockingSession) throws(PostgresError) {
        var hasDropped = !yield(.reconnected)
        while true {
            let deadline = hasDropped ? ContinuousClock.now + Self.overflowRetry : nil
            for notification in try session.notifications(until: deadline) where !hasDropped {
                hasDropped = !yield(.notification(notification))
            }
            if hasDropped { hasDropped = !yield(.overflowed) }
        }
    }

    private func yield(_ event: PostgresListenerEvent) -> Bool {
        switch feed.yield(event) {
        case .dropped: false
        // The consumer has stopped reading: nothing to repeat.
        case .enqueued, .terminated: true
        @unknown default: true
        }
    }
}

/// The content of a `NOTIFY`.
package struct PostgresNotification: Sendable, Equatable {
    package let channel: String
    /// Under 8,000 bytes; empty if the sender gave none.
    package let payload: String
}

/// An event for the owner of a ``PostgresListener``.
package enum PostgresListenerEvent: Sendable, Equatable {
    case notification(PostgresNotification)
    /// Listening began, for the first time or again: poll once, since earlier notifications may have been missed.
    case reconnected
    /// The owner was too slow and notifications were dropped: poll once.
    case overflowed
}
