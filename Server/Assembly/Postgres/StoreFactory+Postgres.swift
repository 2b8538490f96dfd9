#if PostgreSQL
import Logging
import ServiceLifecycle
import TidemarkModel
import TidemarkNode
import TidemarkPostgres
import TidemarkPostgresStore
import TidemarkStore

extension OpenedStore {
    /// Migrates the database to this version's tables and opens it. Its services must run before it answers.
    static func postgres(
        _ uri: String, _ configuration: ServerConfiguration, logger: Logger
    ) async throws -> OpenedStore {
        let connection = try PostgresConfiguration.database(uri)
        try await refuseSharedSessions(connection)
        var options = PostgresStore.Options(configuration.limits.postgres)
        options.limits = configuration.limits.store
        let store = try PostgresStore(
            configuration: connection, node: configuration.nodeID, options: options, logger: logger)
        let progress = MigrationProgress.log(logger)
        try await store.migrate(report: progress.report)
        if case .replicas = configuration.limits.node.durable {
            do {
                try await PostgresReplicas.check(connection, logger: logger)
            } catch let error as StoreError {
                throw ConfigurationError(.durable, error.reason)
            }
        }
        let hints = try PostgresCommitHints(
            connection, node: configuration.nodeID, channel: "tidemark_" + (try await store.installationName()),
            logger: logger)
        var opened = OpenedStore(
            store, operating: store, blobs: store, schemas: store, isShared: true, hints: hints, relay: hints,
            services: [
                PostgresService(store: store, hints: hints, logger: logger),
                MigrationService(logger: logger) { try await store.migrate(.all, report: progress.report) },
            ]
        )
        (opened.backups, opened.replicas) = (store, store)
        opened.pools = {
            let pools = store.connections
            return StorePools(writers: .init(pools.sequencing), readers: .init(pools.reading))
        }
        return opened
    }
}

extension OpenedStore {
    /// Refuses a pooler that lends its sessions per transaction, before anything is done: a server on it would now and
    /// then silently lose statements, settings and notifications.
    private static func refuseSharedSessions(_ connection: PostgresConfiguration) async throws(ConfigurationError) {
        let probe: ConnectionProbe
        // The next user of the connection reports a database that cannot be reached.
        do { probe = try await ConnectionProbe.run(connection) } catch { return }
        guard let reason = probe.refusal else { return }
        throw ConfigurationError(.database, reason)
    }
}

extension PostgresConfiguration {
    /// - Throws: `ConfigurationError` for an invalid connection string.
    static func database(_ uri: String) throws(ConfigurationError) -> PostgresConfiguration {
        do throws(PostgresError) {
            return try PostgresConfiguration(connectionString: uri)
        } catch {
            throw ConfigurationError(.database, "\(error)")
        }
    }
}

extension PostgresStore.Options {
    init(_ limits: PostgresLimits) {
        self.init()
        sequencingConnections = limits.sequencingConnections
        readingConnections = limits.readingConnections
        migrationTimeout = limits.migrationTimeout
    }
}

extension ConnectionProbe {
    /// The reason why a server does not start behind the pooler; `nil` if it may.
    var refusal: String? {
        guard let pooler, sharesSessions else { return nil }
        return
            "\(pooler) is in transaction mode, which loses prepared statements, LISTEN and settings: connect to "
            + "PostgreSQL itself, or to a pool of that pooler whose mode is session"
    }
}

extension StorePools.Pool {
    init(_ snapshot: PostgresPool.Snapshot) {
        self.init(idle: snapshot.idle, leased: snapshot.leased, waiting: snapshot.waiting)
    }
}

/// Commit hints and the messages between nodes, over NOTIFY.
private final class PostgresCommitHints: CommitHints, NodeRelay {
    /// The hints that may wait for the node; further ones would only repeat "look".
    private static let waitingMax = 1_024
    private let hintsOfOthers: AsyncStream<CommitHint>
    private let wordsOfOthers: AsyncStream<String>
    let channel: PostgresHints

    init(_ configuration: PostgresConfiguration, node: UInt64, channel: String, logger: Logger) throws {
        let (stream, continuation) = AsyncStream.makeStream(
            of: CommitHint.self, bufferingPolicy: .bufferingNewest(Self.waitingMax))
        hintsOfOthers = stream
        let (words, hearing) = AsyncStream.makeStream(
            of: String.self, bufferingPolicy: .bufferingNewest(Self.waitingMax))
        wordsOfOthers = words
        self.channel = try PostgresHints(
            configuration: configuration, node: node, channel: channel, clock: ContinuousClock(), logger: logger,
            hear: { hearing.yield($0) }
        ) { continuation.yield($0) }
    }

    func announce(_ workspace: WorkspaceID, _ seq: SequenceNumber) { channel.announce(workspace, seq) }

    func hints() -> AsyncStream<CommitHint> { hintsOfOthers }

    func tell(_ word: String) { channel.tell(word) }

    func words() -> AsyncStream<String> { wordsOfOthers }
}

/// Runs the store's connections and housekeeping until everything that uses them has stopped.
private struct PostgresService: Service {
    /// The pause between two rounds of housekeeping.
    private static let trimEvery = Duration.seconds(60)
    let store: PostgresStore
    let hints: PostgresCommitHints
    let logger: Logger

    func run() async throws {
        await withGracefulShutdownHandler {
            await withDiscardingTaskGroup { group in
                group.addTask { await tend() }
                group.addTask { await listen() }
                do {
                    try await store.run()
                } catch {
                    logger.error("The PostgreSQL connections ended", metadata: ["error": "\(error)"])
                }
                group.cancelAll()
            }
        } onGracefulShutdown: {
            store.shutdown()
        }
    }

    /// Listens for hints. Without them the poll still finds other nodes' writes.
    private func listen() async {
        do {
            try await hints.channel.run()
        } catch {
            logger.warning(
                "The connection for NOTIFY ended: other nodes' commits are found by polling only",
                metadata: ["error": "\(error)"])
        }
    }

    private func tend() async {
        let clock = ContinuousClock()
        while !Task.isCancelled {
            do {
                try await clock.sleep(for: Self.trimEvery)
                try await store.trim(now: ServerAssembly.Surroundings().now())
            } catch is CancellationError {
                return
            } catch {
                logger.warning("Housekeeping failed; the server tries again", metadata: ["error": "\(error)"])
            }
        }
    }
}
#endif
