import TidemarkEmbeddedStore
import TidemarkNode
import TidemarkStore

@testable import TidemarkAssembly

extension OpenedStore {
    /// A database in memory, whose clients are served by the same store or by one with faults.
    init(
        _ store: any MemoryServing, blobs: (any BlobStore)? = nil, schemas: any SchemaStore = InMemorySchemaStore(),
        isShared: Bool = false, hints: any CommitHints = NoHints(), relay: any NodeRelay = NoRelay()
    ) {
        self.init(
            store, operating: store.memory, blobs: blobs ?? InMemoryBlobStore(beside: store.memory), schemas: schemas,
            isShared: isShared, hints: hints, relay: relay)
        replicas = store as? any ReplicaLog
    }

    /// A database in a file, with blobs in memory.
    init(_ store: EmbeddedStore) {
        self.init(store, operating: store, blobs: InMemoryBlobStore(), schemas: InMemorySchemaStore())
    }
}

/// A store over a database in memory.
protocol MemoryServing: Store {
    var memory: InMemoryStore { get }
}

extension InMemoryStore: MemoryServing {
    var memory: InMemoryStore { self }
}

extension FaultyStore: MemoryServing {
    var memory: InMemoryStore { inner }
}
