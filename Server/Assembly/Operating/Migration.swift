import Logging
import ServiceLifecycle
import TidemarkEmbeddedStore
import TidemarkLock
import TidemarkStore

/// Brings a database's tables to this version's without serving: see `Store/Generations/GENERATIONS.md`.
package enum Migration {
    /// Returns one line for each step that ``run(_:contracts:timeout:show:)`` would do, without doing it.
    ///
    /// - Parameter contracts: also deletes what only servers of earlier versions use.
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

    /// Runs all steps. An interrupted run is continued by the next one.
    ///
    /// - Parameters:
    ///   - contracts: also deletes what only servers of earlier versions use.
    ///   - timeout: for a step on PostgreSQL that cannot be divided, and for the wait for a lock.
    ///   - show: receives a line each time a step begins or ends, and each second in between.
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
                // The fault of the tables is the error to report.
                try? store.close()
                throw error
            }
            try store.close()
        case .postgres(let uri):
            try await postgres(uri, extent, timeout: timeout, report: progress.report)
        }
    }
}

/// Forwards the events of a migration, but reports its progress only now and then.
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

    /// Writes a migration to the server's log.
    static func log(_ logger: Logger) -> MigrationProgress {
        MigrationProgress(every: .seconds(5)) { event in
            logger.notice("The tables are brought up to date", metadata: ["step": "\(event.text)"])
        }
    }
}

/// Runs, beside serving, the steps that the server does not need in order to serve.
struct MigrationService: Service {
    /// The pause after a failed attempt.
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
                    // The store is being closed: the interruption says nothing about the tables.
                    guard !Task.isCancelled else { return }
                    logger.warning(
                        "The tables are not up to date yet; the server tries again", metadata: ["error": "\(error)"])
                }
                do { try await clock.sleep(for: Self.retryEvery) } catch { return }
            }
        }
        // A service that returns would end the server.
        try? await gracefulShutdown()
    }
}
