import Foundation
import GRDB
import Testing
import TidemarkAssembly
import TidemarkModel
import TidemarkOperations
import TidemarkPostgres
import TidemarkStore

@testable import TidemarkEmbeddedStore
@testable import TidemarkPostgresStore

/// Backups of databases that an earlier version left: each database that `tidemark migrate` can migrate can be backed
/// up, verified and restored before.
@Suite(.timeLimit(.minutes(10))) struct EarlierBackupTests {
    private static func inFolder(_ body: (String) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tidemark-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder.path)
    }

    /// Backs a database up, reads both, and returns the manifest with the generation.
    private static func backUp(_ database: DatabaseLocation, to path: String) async throws -> BackupManifest {
        let (state, report) = try await Verification.database(database, show: { _ in })
        #expect(report.findings.lines == [])
        let made = try await Backup.make(
            database, to: path, verifies: true, programs: nil, program: "test", show: { _ in })
        let manifest = made.folder.manifest
        #expect(manifest.generation == state.generation && manifest.summaries.count == report.workspaces.count)
        #expect(try await Verification.backup(path, programs: nil, show: { _ in }).report.findings.lines == [])
        return manifest
    }

    private static func restore(_ path: String, into target: DatabaseLocation) async throws {
        _ = try await Restore.run(path, into: target, verifies: true, programs: nil, show: { _ in })
    }

    // MARK: SQLite

    private static func unpackLanded(_ path: String) throws {
        try LandedFixture.unpack("server.sqlite", to: path)
        try LandedFixture.unpack("server.blobs.sqlite", to: EmbeddedBlobStore.path(besides: path))
    }

    /// `nil` for the landed version itself, which had no generations. This version's store opens no file without the
    /// table of erasures of generation 9: for earlier ones the landed version's file is read.
    static let fileGenerations: [Int?] = [nil] + EmbeddedSchema.generations.map(\.number).filter { $0 >= 9 }

    @Test(arguments: fileGenerations)
    func `a file of each generation since the landed version is backed up unchanged`(_ generation: Int?) async throws {
        try await Self.inFolder { folder in
            let path = "\(folder)/server.sqlite"
            try Self.unpackLanded(path)
            if let generation {
                var options = EmbeddedStore.Options()
                options.generations = EmbeddedSchema.generations.filter { $0.number <= generation }
                let store = try EmbeddedStore(path: path, options: options)
                try await store.migrate()
                try store.close()
            }
            let manifest = try await Self.backUp(.sqlite(path: path), to: "\(folder)/backup")
            #expect(manifest.generation == generation ?? EmbeddedSchema.landed)
            #expect(manifest.summaries.map(\.workspace).contains(LandedFixture.workspace))
        }
    }

    @Test func `a backup of the landed version's file is restored with everything in it`() async throws {
        try await Self.inFolder { folder in
            let (path, target) = ("\(folder)/server.sqlite", "\(folder)/new/server.sqlite")
            try Self.unpackLanded(path)
            _ = try await Self.backUp(.sqlite(path: path), to: "\(folder)/backup")
            try await Self.restore("\(folder)/backup", into: .sqlite(path: target))
            let store = try EmbeddedStore(path: target)
            try await store.migrate()
            let read = try await store.window(
                scopes: [LandedFixture.scope], after: 0, span: 10, in: LandedFixture.workspace)
            #expect(read.records.map(\.seq).prefix(7) == [2, 3, 5, 6, 7, 9, 10])
            #expect(try await store.lineage(of: LandedFixture.workspace).map(\.reason) == [.restore])
            try store.close()
        }
    }

    @Test(arguments: 1...3)
    func `a file from before the landed version is backed up unchanged`(_ version: Int) async throws {
        try await Self.inFolder { folder in
            let path = "\(folder)/server.sqlite"
            let queue = try DatabaseQueue(path: path)
            try EmbeddedSchema.migrator(report: { _ in }).migrate(queue, upTo: EmbeddedSchema.names[version - 1])
            try await queue.write { db in
                try db.execute(
                    sql: """
                        INSERT INTO sync_workspace (workspace) VALUES ('w');
                        INSERT INTO sync_batch (workspace, seq, low, nonce, time, epoch) VALUES ('w', 1, 1, 7, 1, 1);
                        """)
            }
            try queue.close()
            try EmbeddedBlobStore(path: EmbeddedBlobStore.path(besides: path)).close()
            let manifest = try await Self.backUp(.sqlite(path: path), to: "\(folder)/backup")
            #expect(manifest.generation == version && manifest.summaries.map(\.head.seq) == [1])
            try await Self.restore("\(folder)/backup", into: .sqlite(path: "\(folder)/new.sqlite"))
        }
    }

    // MARK: PostgreSQL

    /// Runs `body` with another, empty database that has the schema's name.
    private static func withTarget(_ schema: TestSchema, _ body: (String) async throws -> Void) async throws {
        let database = "earlier_" + UUID().uuidString.lowercased().filter { $0 != "-" }
        try await PostgresScript.run(schema.configuration(), sql: "CREATE DATABASE \(database)")
        do {
            let target = try schema.connectionString(keywords: ["dbname": database])
            try await PostgresScript.run(
                PostgresConfiguration(connectionString: target), sql: "CREATE SCHEMA \(schema.name)")
            try await body(target)
        } catch {
            try await PostgresScript.run(schema.configuration(), sql: "DROP DATABASE \(database) WITH (FORCE)")
            throw error
        }
        try await PostgresScript.run(schema.configuration(), sql: "DROP DATABASE \(database) WITH (FORCE)")
    }

    static let tableGenerations: [Int?] = [nil] + PostgresSchema.generations.map(\.number)

    @Test(.enabled(if: TestSchema.isGiven && !TestSchema.isSpread), arguments: tableGenerations)
    func `tables of each generation since the landed version are backed up unchanged`(
        _ generation: Int?
    ) async throws {
        try await TestSchema.with { schema in
            try await LandedFixture.load(into: schema)
            if let generation {
                let store = try PostgresStore(
                    configuration: schema.configuration(), node: 1, options: TestSchema.options,
                    generations: PostgresSchema.generations.filter { $0.number <= generation },
                    logger: TestSchema.logger)
                try await store.migrate(.all)
            }
            try await Self.inFolder { folder in
                let manifest = try await Self.backUp(
                    .postgres(uri: try schema.connectionString()), to: "\(folder)/backup")
                #expect(manifest.generation == generation ?? PostgresSchema.landed)
                #expect(manifest.summaries.map(\.workspace).contains(LandedFixture.workspace))
            }
        }
    }

    @Test(.enabled(if: TestSchema.isGiven && !TestSchema.isSpread), arguments: [nil, 9])
    func `a backup of earlier tables is restored with everything in them, also after a kill`(
        _ generation: Int?
    ) async throws {
        try await TestSchema.with { schema in
            try await LandedFixture.load(into: schema)
            if let generation {
                try await PostgresStore(
                    configuration: schema.configuration(), node: 1, options: TestSchema.options,
                    generations: PostgresSchema.generations.filter { $0.number <= generation },
                    logger: TestSchema.logger
                ).migrate(.all)
            }
            try await Self.inFolder { folder in
                _ = try await Self.backUp(.postgres(uri: try schema.connectionString()), to: "\(folder)/backup")
                try await Self.withTarget(schema) { target in
                    try await Self.restore("\(folder)/backup", into: .postgres(uri: target))
                    let configuration = try PostgresConfiguration(connectionString: target)
                    let look = try await PostgresRestoring.look(
                        configuration, logger: TestSchema.logger)
                    #expect(look.target == .inUse(nodes: 0))
                    let store = try PostgresStore(
                        configuration: configuration, node: 1, options: TestSchema.options, logger: TestSchema.logger)
                    try await store.migrate(.all)
                    try await withThrowingDiscardingTaskGroup { group in
                        group.addTask { try await store.run() }
                        defer { store.shutdown() }
                        let read = try await store.window(
                            scopes: [LandedFixture.scope], after: 0, span: 10, in: LandedFixture.workspace)
                        #expect(read.records.map(\.seq).prefix(7) == [2, 3, 5, 6, 7, 9, 10])
                        #expect(try await store.lineage(of: LandedFixture.workspace).map(\.reason) == [.restore])
                    }
                }
            }
        }
    }

    @Test(.enabled(if: TestSchema.isGiven)) func `tables of an interrupted restore are recognised, and not opened`()
        async throws
    {
        try await TestSchema.with { schema in
            try await LandedFixture.load(into: schema)
            // The state in which pg_restore leaves them.
            try await schema.sql("DELETE FROM sync_migration")
            let look = try await PostgresRestoring.look(
                schema.configuration(), logger: TestSchema.logger)
            #expect(look.target == .unfinished)
            let store = try PostgresStore(
                configuration: schema.configuration(), node: 1, options: TestSchema.options, logger: TestSchema.logger)
            await #expect(throws: (any Error).self) { try await store.migrate(.needed) }
            let database = DatabaseLocation.postgres(uri: try schema.connectionString())
            await #expect(throws: PostgresRestoring.unfinished) {
                _ = try await Verification.database(database, show: { _ in })
            }
        }
    }

    @Test(.enabled(if: TestSchema.isGiven && !TestSchema.isSpread), arguments: 1...5)
    func `tables from before the landed version are backed up unchanged, and restored`(_ version: Int) async throws {
        try await TestSchema.with { schema in
            try await schema.sql(PostgresSchema.makeHistory)
            for (index, step) in PostgresSchema.steps.prefix(version).enumerated() {
                for statement in step.statements { try await schema.sql(statement) }
                try await schema.sql("INSERT INTO sync_migration (version, name) VALUES (\(index + 1), '\(step.name)')")
            }
            try await schema.sql(
                "INSERT INTO sync_workspace (workspace) VALUES ('w')",
                "INSERT INTO sync_batch (workspace, seq, low, nonce, time, epoch) VALUES ('w', 1, 1, 7, 1, 1)")
            try await Self.inFolder { folder in
                let manifest = try await Self.backUp(
                    .postgres(uri: try schema.connectionString()), to: "\(folder)/backup")
                #expect(manifest.generation == version && manifest.summaries.map(\.head.seq) == [1])
                try await Self.withTarget(schema) { target in
                    try await Self.restore("\(folder)/backup", into: .postgres(uri: target))
                    #expect(
                        try await Verification.database(.postgres(uri: target), show: { _ in }).report.findings.lines
                            == [])
                }
            }
        }
    }
}
