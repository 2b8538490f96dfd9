import Foundation
import TidemarkModel
import TidemarkStore

@testable import TidemarkEmbeddedStore

/// The implementations of the contract. Every contract test runs against each that is available.
enum StoreKind: String, CaseIterable, Sendable {
    case memory, embedded, postgres

    /// PostgreSQL takes part when the environment names a server in `TIDEMARK_TEST_POSTGRES`.
    static var available: [StoreKind] {
        allCases.filter { $0 != .postgres || ProcessInfo.processInfo.environment["TIDEMARK_TEST_POSTGRES"] != nil }
    }

    /// Runs `body` with a store of its own, or at least a workspace of its own, and closes it afterwards.
    func withStore(
        limits: StoreLimits = StoreLimits(), _ body: (StoreUnderTest) async throws -> Void
    ) async throws {
        let under = try await make(limits)
        do {
            try await body(under)
        } catch {
            try await under.close()
            throw error
        }
        try await under.close()
    }

    private func make(_ limits: StoreLimits) async throws -> StoreUnderTest {
        switch self {
        case .memory:
            let store = InMemoryStore(MemoryTables(limits: limits))
            return StoreUnderTest(
                store: store, blobs: InMemoryBlobStore(BlobTables(limits: limits), beside: store))
        case .embedded:
            let file = TemporaryFile()
            var options = EmbeddedStore.Options()
            options.limits = limits
            // Some records are filed, some are not.
            options.filing = Filing.Bounds(recordsPerScope: 2, scopesMax: 3)
            let store = try EmbeddedStore(path: file.path, options: options)
            let blobs = try EmbeddedBlobStore(
                path: EmbeddedBlobStore.path(besides: file.path), beside: store, limits: limits)
            return StoreUnderTest(store: store, blobs: blobs) {
                try store.close()
                try blobs.close()
                try file.remove()
            }
        case .postgres:
            return try await StoreUnderTest.makePostgres(limits)
        }
    }
}

/// A database file in a folder of its own that does not exist yet.
struct TemporaryFile: Sendable {
    let folder: URL
    var path: String { folder.appendingPathComponent("store.sqlite").path }

    init() {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("tidemark-\(UUID().uuidString)")
    }

    func remove() throws { try FileManager.default.removeItem(at: folder) }
}
