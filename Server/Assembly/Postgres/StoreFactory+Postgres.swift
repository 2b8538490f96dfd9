#if PostgreSQL
import Logging
import ServiceLifecycle
import TidemarkModel
import TidemarkNode
import TidemarkPostgres
import TidemarkPostgresStore
import TidemarkStore

extension OpenedStore {
    /// Brings the database to this version's tables and opens it; its services must run before it answers.
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
            store, blobs: store, compaction: store, erasure: store, schemas: store, revocations: store, isShared: true,
            hints: hints, relay: hints,
            services: [
                PostgresService(store: store, hints: hints, logger: logger),
                MigrationService(logger: logger) { try await store.migrate(.all, report: progress.report) },
            ]
        )
        opened.pools = {
            let pools = store.connections
            return StorePools(writers: .init(pools.sequencing), readers: .init(pools.reading))
        }
        return opened
    }
}

extension OpenedStore {
    /// A pooler that lends a session to each transaction loses what a server relies on, now and then and without a word: so it is
    /// refused before anything is done.
    private static func refuseSharedSessions(_ connection: PostgresConfiguration) async throws(ConfigurationError) {
        let probe: ConnectionProbe
        // What cannot be reached is told by whoever needs it next.
        do { probe = try await ConnectionProbe.run(connection) } catch { return }
        guard let reason = probe.refusal else { return }
        throw ConfigurationError(.database, reason)
    }
}

extension PostgresConfiguration {
    /// - Throws: `ConfigurationError` for a connection string that is none.
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
    /// Why a server does not start behind it; `nil` where it may.
    var refusal: String? {
        guard let pooler, sharesSessions else { return nil }
        return
            "\(pooler) stands between in transaction mode, which loses prepared statements, LISTEN and settings: connect to "
            + "PostgreSQL itself, or to a pool of that pooler whose mode is session"
    }
}

extension StorePools.Pool {
    init(_ snapshot: PostgresPool.Snapshot) {
        self.init(idle: snapshot.idle, leased: snapshot.leased, waiting: snapshot.waiting)
    }
}

/// NOTIFY as the node's hints, and as its way to speak to the other nodes.
private final class PostgresCommitHints: CommitHints, NodeRelay {
    /// Hints that wait for the node; more of them say no more than "look".
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
    /// Between two rounds of housekeeping.
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

    /// Hints are a convenience: without them the poll finds what other nodes wrote.
    private func listen() async {
        do {
            try await hints.channel.run()
        } catch {
            logger.warning("No more word from other nodes but by polling", metadata: ["error": "\(error)"])
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
                logger.warning("Housekeeping failed; it is tried again", metadata: ["error": "\(error)"])
            }
        }
    }
}
#endif
