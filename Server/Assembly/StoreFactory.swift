package import Logging
package import ServiceLifecycle
import TidemarkEmbeddedStore
package import TidemarkNode
package import TidemarkStore

/// A store that is open, and what belongs to it.
package struct OpenedStore: Sendable {
    package var store: any Store
    package var blobs: any BlobStore
    /// The same store; `nil` when it keeps everything.
    package var compaction: (any Compacting)?
    /// The same store, and where its blobs are; `nil` when nothing can be erased.
    package var erasure: (any Erasing)?
    /// The same for blobs.
    package var blobErasure: (any BlobErasing)? { blobs as? any BlobErasing }
    package var schemas: any SchemaStore
    package var revocations: any RevocationStore
    /// Other processes may commit to it.
    package var isShared: Bool
    package var hints: any CommitHints
    package var relay: any NodeRelay
    /// Where verified backups are written down; `nil` when nobody knows of any.
    package var backups: (any BackupLog)?
    /// Its pools of connections at this moment; `nil` where it has none.
    var pools: (@Sendable () -> StorePools)?
    /// What has to run while the store is used.
    package var services: [any Service]
    /// Ends it, once nothing uses it any more. Blocks.
    package var close: @Sendable () throws -> Void

    package init(
        _ store: any Store, blobs: (any BlobStore)? = nil, compaction: (any Compacting)? = nil,
        erasure: (any Erasing)? = nil,
        schemas: any SchemaStore = InMemorySchemaStore(), revocations: (any RevocationStore)? = nil,
        isShared: Bool = false,
        hints: any CommitHints = NoHints(),
        relay: any NodeRelay = NoRelay(), services: [any Service] = [],
        close: @escaping @Sendable () throws -> Void = {}
    ) {
        self.store = store
        self.blobs = blobs ?? InMemoryBlobStore(beside: store as? InMemoryStore)
        self.compaction = compaction
        self.erasure = erasure
        self.schemas = schemas
        self.revocations = revocations ?? store as? any RevocationStore ?? InMemoryStore()
        self.isShared = isShared
        self.hints = hints
        self.relay = relay
        backups = store as? any BackupLog
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
                // What is wrong with the second file is the one thing to tell.
                try? store.close()
                throw error
            }
            var opened = OpenedStore(
                store, blobs: blobs, compaction: store, erasure: store, schemas: store, revocations: store,
                services: [MigrationService(logger: logger) { try await store.migrate(report: progress.report) }],
                close: {
                    // Both are closed, whatever becomes of the first.
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
            // The first error is the one to tell.
            try? opened.close()
            throw error
        }
        try opened.close()
    }
}
