import Logging
import ServiceLifecycle
import TidemarkEmbeddedStore
import TidemarkLock
import TidemarkStore

/// Bringing a database's tables to this version's, apart from serving: see `Store/Generations/GENERATIONS.md`.
package enum Migration {
    /// What would be done, without doing it: a text for each step.
    ///
    /// - Parameter contracts: also takes away what only servers of earlier versions use.
    /// - Throws: `StoreError`, `ConfigurationError`.
    package static func plan(_ database: DatabaseLocation, contracts: Bool) async throws -> [String] {
        let extent = contracts ? MigrationPlan.Extent.contract : .all
        let lines =
            switch database {
            case .sqlite(let path): try EmbeddedStore.migrationPlan(extent, path: path)
            case .postgres(let uri): try await postgresPlan(uri, extent)
            }
        return lines.map(\.text)
    }

    /// Does it, and returns when nothing is left. Cut short, the next one goes on where it was.
    ///
    /// - Parameters:
    ///   - contracts: also takes away what only servers of earlier versions use.
    ///   - timeout: for one step on PostgreSQL that does not come bit by bit, and for the wait for a lock.
    ///   - show: given a line each time a step begins or ends, and each second in between.
    /// - Throws: `StoreError`, `ConfigurationError`.
    package static func run(
        _ database: DatabaseLocation, contracts: Bool, timeout: Duration, show: @escaping @Sendable (String) -> Void
    ) async throws {
        let extent = contracts ? MigrationPlan.Extent.contract : .all
        let progress = MigrationProgress(every: .seconds(1)) { show($0.text) }
        switch database {
        case .sqlite(let path):
            let store = try EmbeddedStore(path: path, report: progress.report)
            do {
                try EmbeddedBlobStore(path: EmbeddedBlobStore.path(besides: path)).close()
                try await store.migrate(extent, isGentle: false, report: progress.report)
            } catch {
                // What is wrong with the tables is the one thing to tell.
                try? store.close()
                throw error
            }
            try store.close()
        case .postgres(let uri):
            try await postgres(uri, extent, timeout: timeout, report: progress.report)
        }
    }
}

/// Passes on what is told of a migration, but how far it is only now and then.
final class MigrationProgress: Sendable {
    private let every: Duration
    private let show: @Sendable (MigrationEvent) -> Void
    private let last = Lock<ContinuousClock.Instant?>(nil)

    init(every: Duration, show: @escaping @Sendable (MigrationEvent) -> Void) {
        self.every = every
        self.show = show
    }

    func report(_ event: MigrationEvent) {
        let isShown = last.withLock { last in
            let now = ContinuousClock.now
            switch event {
            case .began, .ended: return true
            case .moved, .waiting:
                if let last, now - last < every { return false }
                last = now
                return true
            }
        }
        if isShown { show(event) }
    }

    /// For the log of a server.
    static func log(_ logger: Logger) -> MigrationProgress {
        MigrationProgress(every: .seconds(5)) { event in
            logger.notice("The tables are brought up to date", metadata: ["step": "\(event.text)"])
        }
    }
}

/// Makes, beside serving, what the server does not need to serve.
struct MigrationService: Service {
    /// Between two attempts after one has failed.
    private static let retryEvery = Duration.seconds(30)
    let logger: Logger
    let migrate: @Sendable () async throws -> Void

    func run() async throws {
        await cancelWhenGracefulShutdown {
            let clock = ContinuousClock()
            while true {
                do {
                    try await migrate()
                    return
                } catch is CancellationError {
                    return
                } catch {
                    // Cut short by whoever needs the store no more: it says nothing of the tables.
                    guard !Task.isCancelled else { return }
                    logger.warning(
                        "The tables are not up to date yet; it is tried again", metadata: ["error": "\(error)"])
                }
                do { try await clock.sleep(for: Self.retryEvery) } catch { return }
            }
        }
        // A service that returns would end the server.
        try? await gracefulShutdown()
    }
}
