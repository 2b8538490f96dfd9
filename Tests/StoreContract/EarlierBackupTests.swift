import Foundation
import Testing
import TidemarkAssembly
import TidemarkModel
import TidemarkOperations
import TidemarkPostgres
import TidemarkStore

@testable import TidemarkPostgresStore

/// Backups of databases that an earlier version left.
@Suite(.timeLimit(.minutes(10))) struct EarlierBackupTests {
    @Test func `a backup of a version before the first release is refused before anything is restored`() async throws {
        try await BackupGround.with(.embedded) { ground in
            let own = try await ground.backup().folder.manifest.generation
            let path = "\(ground.folder)/backup/manifest.json"
            let text = try String(contentsOfFile: path, encoding: .utf8)
            let early = text.replacing("\"generation\" : \(own)", with: "\"generation\" : 13")
            try early.write(toFile: path, atomically: false, encoding: .utf8)
            let sum = BlobDigest(sha256: ContentHash.hash(Array(early.utf8))).text
            try "\(sum)  manifest.json\n".write(
                toFile: "\(ground.folder)/backup/SHA256SUMS", atomically: false, encoding: .utf8)
            let refused = try await BackupTests.refusal { try await ground.restore() }
            #expect(refused.contains("first release has made the tables (they are of generation 13"), "\(refused)")
            guard case .sqlite(let target) = ground.target else { return }
            #expect(!FileManager.default.fileExists(atPath: target))
        }
    }

    @Test(.enabled(if: TestSchema.isGiven))
    func `a restore brings tables of the generation before up to date, and then admits nodes of both`() async throws {
        try await TestSchema.with { schema in
            let store = try PostgresStore(
                configuration: schema.configuration(), node: 1, options: TestSchema.options, logger: TestSchema.logger)
            try await store.migrate(.all)
            // The state in which pg_restore leaves the tables.
            try await schema.sql("DELETE FROM sync_fence")
            let look = try await PostgresRestoring.look(schema.configuration(), logger: TestSchema.logger)
            #expect(look.target == .unfinished)
            await #expect(throws: (any Error).self) { try await store.migrate(.needed) }
            let database = DatabaseLocation.postgres(uri: try schema.connectionString())
            await #expect(throws: PostgresRestoring.unfinished) {
                _ = try await Verification.database(database, show: { _ in })
            }
            try await PostgresRestoring.finish(
                schema.configuration(), from: PostgresLoading.state, generations: PostgresGenerationTests.next,
                logger: TestSchema.logger
            ) { _ in }
            let own = PostgresExamination.own
            #expect(
                try await schema.sql("SELECT generation || ' ' || oldest FROM sync_fence")
                    == ["\(own + 1) \(PostgresSchema.first)"])
            #expect(try await schema.sql("SELECT count(label)::text FROM sync_client") == ["0"])
        }
    }
}
