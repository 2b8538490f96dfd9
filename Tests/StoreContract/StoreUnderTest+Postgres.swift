import Foundation
import Logging
import TidemarkPostgres
import TidemarkPostgresStore
import TidemarkStore

extension StoreUnderTest {
    /// The store's own id among the nodes; tests follow with other ids.
    static let postgresNode: UInt64 = 0xffff_ffff_0000_0001

    /// A store on the server that `TIDEMARK_TEST_POSTGRES` names, in a schema of its own.
    static func makePostgres(_ limits: StoreLimits) async throws -> StoreUnderTest {
        let schema = try await TestSchema.make()
        do {
            var options = TestSchema.options
            options.limits = limits
            let running = try await RunningPostgresStore(schema, node: postgresNode, options: options)
            return StoreUnderTest(store: running.store, blobs: running.store) {
                try await running.end()
                try await schema.drop()
            }
        } catch {
            try await schema.drop()
            throw error
        }
    }
}

/// A migrated store with its connections.
struct RunningPostgresStore: Sendable {
    let store: PostgresStore
    private let run: Task<Void, any Error>

    init(
        _ schema: TestSchema, node: UInt64, options: PostgresStore.Options = TestSchema.options,
        settings: [String: String] = [:]
    ) async throws {
        let store = try PostgresStore(
            configuration: schema.configuration(settings), node: node, options: options, logger: TestSchema.logger)
        try await store.migrate()
        if TestSchema.isSpread { try await schema.spread() }
        self.store = store
        run = Task { try await store.run() }
    }

    func end() async throws {
        store.shutdown()
        try await run.value
    }
}
