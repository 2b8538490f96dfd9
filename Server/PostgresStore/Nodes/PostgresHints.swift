package import Logging
import TidemarkLock
package import TidemarkModel
package import TidemarkPostgres
package import TidemarkStore

/// Notifies the other nodes on the database that a workspace has grown, and receives their notifications.
///
/// Hints only make things faster: they may be merged, late or lost. They are sent after the commit and over a
/// connection of their own, since a notification inside a transaction would take a lock on the whole database.
package final class PostgresHints: Sendable {
    private struct Pending {
        /// `nil` when there were too many workspaces.
        var heads: [WorkspaceID: SequenceNumber]? = [:]
        var words = RelayQueue()
    }

    /// The workspaces of one notification, roughly as many as fit; beyond that, the others are asked to poll.
    private static let workspacesMax = 1_000
    /// The shortest time between two notifications.
    private static let pause: Duration = .milliseconds(5)

    private let node: UInt64
    private let channel: String
    private let clock: any Clock<Duration>
    private let deliver: @Sendable (CommitHint) -> Void
    private let hear: @Sendable (String) -> Void
    private var relayChannel: String { channel + "_relay" }
    private let logger: Logger
    private let pool: PostgresPool
    private let listener: PostgresListener
    private let pending = Lock(Pending())
    private let wakes: AsyncStream<Void>
    private let waking: AsyncStream<Void>.Continuation
    private let tells: AsyncStream<Void>
    private let telling: AsyncStream<Void>.Continuation

    /// - Parameters:
    ///   - configuration: its `connections` is not used: one connection sends and one listens.
    ///   - node: this process among those on the database; its own hints are not delivered to it.
    ///   - channel: the same for all nodes of an installation and for no others: a notification reaches every
    ///     connection to the database that listens to the channel, whatever its schema.
    ///   - clock: for the pauses between notifications.
    ///   - hear: called with each message that another node sent by `tell`, like `deliver`. Messages have their own
    ///     channel, named after the first one with `_relay`.
    ///   - deliver: called with each hint, one after the other; must not block.
    /// - Throws: `StoreError` of kind `unavailable` if the process has no file descriptor left.
    package init(
        configuration: PostgresConfiguration, node: UInt64, channel: String, clock: any Clock<Duration>,
        logger: Logger, hear: @escaping @Sendable (String) -> Void = { _ in },
        deliver: @escaping @Sendable (CommitHint) -> Void
    ) throws(StoreError) {
        self.node = node
        self.channel = channel
        self.clock = clock
        self.deliver = deliver
        self.hear = hear
        self.logger = logger
        var single = configuration
        single.connections = 1
        single.applicationName += " hints"
        do {
            pool = try PostgresPool(configuration: single, logger: logger)
            listener = try PostgresListener(
                configuration: single, channels: [channel, channel + "_relay"], logger: logger)
        } catch {
            throw StoreError(postgres: error)
        }
        (wakes, waking) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        (tells, telling) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Notifies the others soon; never waits. Any thread.
    package func announce(_ workspace: WorkspaceID, _ seq: SequenceNumber) {
        pending.withLock { pending in
            guard var heads = pending.heads else { return }
            pending.heads = nil
            heads[workspace] = max(seq, heads[workspace] ?? seq)
            if heads.count <= Self.workspacesMax { pending.heads = heads }
        }
        waking.yield()
    }

    /// Sends the others a message, a quarter of a second later at most. Never waits, and drops the message when too
    /// many wait. Any thread.
    package func tell(_ word: String) {
        let isKept = pending.withLock { $0.words.append(word) }
        if isKept { telling.yield() }
    }

    /// Sends and listens until its task is cancelled. Once only.
    ///
    /// - Throws: `StoreError` of kind `unavailable` if the system refuses a thread.
    package func run() async throws(StoreError) {
        do {
            try await withThrowingTaskGroup { group in
                group.addTask { try await self.pool.run() }
                group.addTask { try await self.listener.run() }
                group.addTask { await self.send() }
                group.addTask { await self.sendWords() }
                group.addTask { await self.receive() }
                // None of them ends before the cancellation, except in failure.
                try await group.next()
                group.cancelAll()
                try await group.waitForAll()
            }
        } catch {
            throw StoreError(postgres: error)
        }
    }

    private func send() async {
        for await _ in wakes {
            let heads = pending.withLock { pending in
                defer { pending.heads = [:] }
                return pending.heads
            }
            if let heads, heads.isEmpty { continue }
            var parameters = Parameters()
            parameters.add(text: channel)
            parameters.add(text: HintPayload(node: node, heads: heads).text)
            let notify = Statement(Self.notify, parameters)
            do {
                _ = try await pool.withConnection { try await $0.run([notify]) }
            } catch {
                // The others find the commit without it, a second later.
                logger.debug("a hint was not sent", metadata: ["error": "\(error)"])
            }
            // Ends early only when the task is cancelled, which ends the loop as well.
            try? await clock.sleep(for: Self.pause)
        }
    }

    private func receive() async {
        for await event in listener.events {
            switch event {
            case .reconnected, .overflowed:
                deliver(.unknown)
            case .notification(let notification) where notification.channel == relayChannel:
                guard let words = RelayQueue.words(of: notification.payload, toldBy: node) else { continue }
                for word in words { hear(word) }
            case .notification(let notification):
                guard let payload = HintPayload(notification.payload) else {
                    logger.debug("a notification is not a hint")
                    continue
                }
                guard payload.node != node else { continue }
                guard let heads = payload.heads else {
                    deliver(.unknown)
                    continue
                }
                for (workspace, seq) in heads { deliver(.grown(workspace, seq)) }
            }
        }
    }

    /// Sends messages, in at most four notifications a second, however many there are: all nodes share the channel.
    private func sendWords() async {
        for await _ in tells {
            while let payload = pending.withLock({ $0.words.take(node: node) }) {
                var parameters = Parameters()
                parameters.add(text: relayChannel)
                parameters.add(text: payload)
                let notify = Statement(Self.notify, parameters)
                do {
                    _ = try await pool.withConnection { try await $0.run([notify]) }
                } catch {
                    logger.debug("messages were not sent", metadata: ["error": "\(error)"])
                }
                // Ends early only when the task is cancelled, which ends the outer loop; the rest is dropped.
                try? await clock.sleep(for: RelayQueue.pause)
                if Task.isCancelled { return }
            }
        }
    }

    private static let notify = PreparedStatement(name: "sync_notify", sql: "SELECT pg_notify($1, $2)")
}
