import GRDB
import Testing
import TidemarkModel
import TidemarkStore

@testable import TidemarkEmbeddedStore
@testable import TidemarkPostgresStore

/// Databases of the landed version, with today's code.
@Suite(.timeLimit(.minutes(5)))
struct LandedTests {
    @Test func `the landed version's SQLite file is opened with everything in it`() async throws {
        let file = TemporaryFile()
        try LandedFixture.unpack("server.sqlite", to: file.path)
        try LandedFixture.unpack("server.blobs.sqlite", to: EmbeddedBlobStore.path(besides: file.path))
        let store = try EmbeddedStore(path: file.path)
        try await store.migrate()
        let blobs = try EmbeddedBlobStore(path: EmbeddedBlobStore.path(besides: file.path))
        try await LandedFixture.expectAll(in: store, blobs)
        let filled = try await store.pool.read { db in
            try Int.fetchOne(db, sql: "SELECT count(*) FROM sync_client WHERE seen > registered")
        }
        #expect(filled == 4)
        try blobs.close()
        try store.close()
        try file.remove()
    }

    @Test(.enabled(if: TestSchema.isGiven))
    func `the landed version's PostgreSQL tables are opened with everything in them`() async throws {
        try await TestSchema.with { schema in
            try await LandedFixture.load(into: schema)
            let running = try await RunningPostgresStore(schema, node: 1)
            try await running.store.migrate(.all)
            try await LandedFixture.expectAll(in: running.store, running.store)
            #expect(try await schema.sql("SELECT max(version)::text FROM sync_migration") == ["6"])
            #expect(try await schema.sql("SELECT count(*)::text FROM sync_client WHERE seen > registered") == ["3"])
            try await running.end()
        }
    }
}
