package import Logging
package import TidemarkPostgres
package import TidemarkStore

/// The store contract on PostgreSQL: the store that several nodes share.
///
/// The row of a workspace is its lock. Sequencing and all other work have connections of their own, so that neither can
/// starve the other. Calls wait until `run()` has connected.
package final class PostgresStore: Store {
    /// Settings of one node's access.
    package struct Options: Sendable {
        /// Connections for steps of the order: the number of workspaces that can be written at once.
        package var sequencingConnections = 4
        /// Connections for reads and registrations.
        package var readingConnections = 8
        /// The longest wait of a step for the lock of its workspace.
        package var lockTimeout: Duration = .seconds(2)
        /// The time for one statement.
        package var statementTimeout: Duration = .seconds(5)
        /// The time that the server keeps the lock for a node that went silent in the middle of a step.
        package var idleTimeout: Duration = .seconds(3)
        /// The time to look for a batch whose commit was not answered.
        package var outcomeTimeout: Duration = .seconds(15)
        /// The time for schema steps that a node needs before it serves, including the wait for other nodes that do
        /// them.
        package var migrationTimeout: Duration = .seconds(600)
        /// The longest wait of a table change for its lock, and so of all transactions behind it.
        package var tablesLockTimeout: Duration = .milliseconds(200)
        /// The rows of a backfill that are filled at once.
        package var backfillRows = 500
        /// The records whose places are computed again in one transaction.
        package var placesPerStep = 5_000
        /// The rows after which a window is cut.
        package var windowRowsMax = 8_192
        /// The milliseconds that bodies are kept for other nodes, at least.
        package var bodyLifetime: Int64 = 300_000
        /// The batches whose bodies one call of `trim` deletes.
        package var trimBatchesMax = 20_000
        package var limits = StoreLimits()

        package init() {}
    }

    let node: UInt64
    /// The generations that this node knows; the last one is its own.
    let generations: [Generation]
    let generation: Int
    let options: Options
    let configuration: PostgresConfiguration
    let logger: Logger
    let transactions: Transactions
    let stepping = SteppingConnections()
    let sequencing: PostgresPool
    let reading: PostgresPool

    /// Makes a store that is not connected yet.
    ///
    /// - Parameters:
    ///   - configuration: its `connections` is not used.
    ///   - node: this process among those on the database; a listener of this id needs no bodies from this store.
    ///   - generations: others than this version's, for tests.
    /// - Throws: `StoreError` of kind `unavailable` if the process has no file descriptor left.
    package init(
        configuration: PostgresConfiguration, node: UInt64, options: Options = Options(),
        generations: [Generation]? = nil, logger: Logger
    ) throws(StoreError) {
        self.configuration = configuration
        self.node = node
        self.options = options
        self.logger = logger
        let generations = generations ?? PostgresSchema.generations
        self.generations = generations
        generation = generations.last?.number ?? PostgresSchema.first
        transactions = Transactions(options, generation: generation)
        do {
            sequencing = try Self.pool(
                configuration, options.sequencingConnections, "sequencing", generation, logger: logger)
            reading = try Self.pool(configuration, options.readingConnections, "reading", generation, logger: logger)
        } catch {
            throw StoreError(postgres: error)
        }
    }

    private static func pool(
        _ configuration: PostgresConfiguration, _ connections: Int, _ purpose: String, _ generation: Int,
        logger: Logger
    ) throws(PostgresError) -> PostgresPool {
        var configuration = configuration
        configuration.connections = connections
        configuration.beginning = NodeConnections.naming(configuration.applicationName, generation, purpose)
        return try PostgresPool(configuration: configuration, logger: logger)
    }

    /// Keeps the connections until `shutdown()`, which lets calls finish, or until its task is cancelled, which does
    /// not. Once only.
    ///
    /// - Throws: `StoreError` of kind `unavailable` if the system refuses a thread.
    package func run() async throws(StoreError) {
        do {
            try await withThrowingDiscardingTaskGroup { group in
                for pool in [sequencing, reading] { group.addTask { try await pool.run() } }
            }
        } catch {
            throw StoreError(postgres: error)
        }
    }

    /// Refuses further calls; `run()` returns when the calls in progress have ended.
    package func shutdown() {
        sequencing.shutdown()
        reading.shutdown()
    }

    /// Both pools at one instant, for health reports.
    package var connections: (sequencing: PostgresPool.Snapshot, reading: PostgresPool.Snapshot) {
        (sequencing.snapshot, reading.snapshot)
    }
}
