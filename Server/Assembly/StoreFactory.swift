package import Logging
package import ServiceLifecycle
import TidemarkEmbeddedStore
package import TidemarkNode
package import TidemarkStore

/// An open store and its parts.
package struct OpenedStore: Sendable {
    /// Serves clients.
    package var store: any Store
    /// The same database, for operators.
    package var operating: any OperatingStore
    package var blobs: any BlobStore
    package var schemas: any SchemaStore
    /// True when other processes may commit to it.
    package var isShared: Bool
    package var hints: any CommitHints
    package var relay: any NodeRelay
    /// The log of verified backups; `nil` when there is none.
    package var backups: (any BackupLog)?
    /// The log of standbys; `nil` for a store that has none.
    package var replicas: (any ReplicaLog)?
    /// The current figures of its pools of connections; `nil` without pools.
    var pools: (@Sendable () -> StorePools)?
    /// The services that must run while the store is used.
    package var services: [any Service]
    /// Closes it, once nothing uses it any more. Blocks.
    package var close: @Sendable () throws -> Void

    package init(
        _ store: any Store, operating: any OperatingStore, blobs: any BlobStore, schemas: any SchemaStore,
        isShared: Bool = false, hints: any CommitHints = NoHints(), relay: any NodeRelay = NoRelay(),
        services: [any Service] = [], close: @escaping @Sendable () throws -> Void = {}
    ) {
        self.store = store
        self.operating = operating
        self.blobs = blobs
        self.schemas = schemas
        self.isShared = isShared
        self.hints = hints
        self.relay = relay
        self.services = services
        self.close = close
    }

    /// Opens the store that a configuration names.
    package static func open(_ configuration: ServerConfiguration, logger: Logger) async throws -> OpenedStore {
        switch configuration.database {
        case .sqlite(let path):
            var options = configuration.limits.embedded
            options.limits = configuration.limits.store
            let progress = MigrationProgress.log(logger)
            let store = try EmbeddedStore(path: path, options: options, report: progress.report)
            let blobs: EmbeddedBlobStore
            do throws(StoreError) {
                blobs = try EmbeddedBlobStore(
                    path: EmbeddedBlobStore.path(besides: path), beside: store, limits: configuration.limits.store)
            } catch {
                // The fault of the second file is the error to report.
                try? store.close()
                throw error
            }
            var opened = OpenedStore(
                store, operating: store, blobs: blobs, schemas: store,
                services: [MigrationService(logger: logger) { try await store.migrate(report: progress.report) }],
                close: {
                    // The second is closed even if the first fails.
                    let first = Result { try blobs.close() }
                    try store.close()
                    try first.get()
                })
            opened.backups = EmbeddedBackupNote(beside: path)
            return opened
        case .postgres(let uri):
            return try await postgres(uri, configuration, logger: logger)
        }
    }

    /// Runs `body` with the store that a configuration names, beside servers or alone, and closes it.
    static func using(
        _ configuration: ServerConfiguration, logger: Logger, _ body: @Sendable (OpenedStore) async throws -> Void
    ) async throws {
        let opened = try await open(configuration, logger: logger)
        do {
            try await withThrowingTaskGroup { group in
                for service in opened.services { group.addTask { try await service.run() } }
                try await body(opened)
                group.cancelAll()
            }
        } catch {
            // The first error is the one to report.
            try? opened.close()
            throw error
        }
        try opened.close()
    }
}
