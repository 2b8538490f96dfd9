import Foundation
import Testing
import TidemarkLock
import TidemarkModel
import TidemarkPostgres
import TidemarkStore

@testable import TidemarkAssembly
@testable import TidemarkPostgresStore

/// The doctor's examination of a real PostgreSQL.
@Suite(.enabled(if: TestSchema.isGiven, "TIDEMARK_TEST_POSTGRES names no database"), .timeLimit(.minutes(5)))
struct PostgresExaminationTests {
    private static func now() -> Int64 { Int64(Date().timeIntervalSince1970 * 1_000) }

    @Test func `its version, tables, settings, clock and backups are read, before tables exist and after`()
        async throws
    {
        try await TestSchema.with { schema in
            let configuration = try schema.configuration()
            let empty = try await PostgresExamination.run(configuration, now: Self.now, logger: TestSchema.logger)
            #expect(empty.generation == nil && empty.lastBackup == nil)
            let store = try PostgresStore(
                configuration: configuration, node: 1, options: TestSchema.options, logger: TestSchema.logger)
            try await store.migrate(.all, report: { _ in })
            try await PostgresBackupNote.write(
                [(WorkspaceID("w"), Head(seq: 1, nonce: 1, time: 1, epoch: 1))], taken: 77, verified: 78, configuration,
                logger: TestSchema.logger)
            let made = try await PostgresExamination.run(configuration, now: Self.now, logger: TestSchema.logger)
            #expect(made.generation == PostgresExamination.own && made.lastBackup == 77)
            #expect(made.serverVersion >= 150_000 && !made.isStandby && made.connections >= 1)
            #expect(made.settings.keys.count >= 6 && made.settings["server_encoding"] == "UTF8")
            // The same machine's clock.
            #expect(abs(made.clockAhead) <= made.clockDoubt + 50)
            let ahead = try await PostgresExamination.run(
                configuration, now: { Self.now() - 60_000 }, logger: TestSchema.logger)
            #expect(ahead.clockAhead > 59_000)
        }
    }

    @Test func `settings that lose data, or others' commits, are found`() async throws {
        let usual = PostgresExamination(
            serverVersion: 150_004, settings: ["fsync": "on", "max_connections": "100"], isStandby: false,
            clockAhead: 0,
            clockDoubt: 0, connections: 1)
        let configuration = try ServerConfiguration(environment: [
            "TIDEMARK_SECRET": String(repeating: "s", count: 32), "TIDEMARK_DATABASE": "sqlite:/tmp/none",
        ])
        func levels(_ change: (inout PostgresExamination) -> Void) -> [DoctorFinding.Level] {
            var examination = usual
            change(&examination)
            return Doctor.judge(examination, configuration).map(\.level).filter { $0 != .well }
        }
        #expect(levels { _ in } == [])
        #expect(levels { $0.settings["fsync"] = "off" } == [.wrong])
        #expect(levels { $0.settings["full_page_writes"] = "off" } == [.wrong])
        #expect(levels { $0.settings["synchronous_commit"] = "off" } == [.look])
        #expect(levels { $0.settings["idle_session_timeout"] = "60000" } == [.look])
        #expect(levels { $0.settings["transaction_read_only"] = "on" } == [.wrong])
        #expect(levels { $0.settings["server_encoding"] = "LATIN1" } == [.wrong])
        #expect(levels { $0.connections = 95 } == [.look])
        #expect(levels { $0.isStandby = true } == [.wrong])
        #expect(levels { $0.serverVersion = 140_010 } == [.wrong])
        #expect(levels { $0.clockAhead = -60_000 } == [.wrong])
    }

    /// The findings about the present database, for the given connection.
    private static func ground(
        _ schema: TestSchema, _ settings: [String: String] = [:], own: Int = PostgresExamination.own
    ) async throws -> (examination: PostgresExamination, findings: [DoctorFinding]) {
        let examination = try await PostgresExamination.run(
            schema.configuration(settings), now: Self.now, logger: TestSchema.logger)
        // Tables of other tests are in other schemas.
        var ground = examination.ground
        ground.elsewhere = []
        var found = Doctor.judge(ground, isKnown: examination.generation != nil)
        if let generation = examination.generation {
            found.append(
                Doctor.generation(
                    generation, own: own, "PostgreSQL", examination.ground))
        }
        return (examination, found)
    }

    private static func migrate(_ schema: TestSchema) async throws {
        try await PostgresStore(
            configuration: schema.configuration(), node: 1, options: TestSchema.options,
            logger: TestSchema.logger
        ).migrate(.all, report: { _ in })
    }

    @Test func `tables of another application in the schema are reported, before ours exist and after`() async throws {
        try await TestSchema.with { schema in
            try await schema.sql("CREATE TABLE orders (id int)", "CREATE TABLE users (id int)")
            let before = try await Self.ground(schema).findings
            #expect(before.map(\.level) == [.look, .look])
            #expect(before[0].what.contains("there are no tables of Tidemark's yet"))
            #expect(before[1].what.contains("tables of another application: orders, users"))
            #expect(before[1].remedy.contains("CREATE SCHEMA tidemark"))
            try await Self.migrate(schema)
            let after = try await Self.ground(schema).findings
            #expect(after.map(\.level) == [.look, .well] && after[0].what.contains("orders, users"))
        }
    }

    @Test func `another program's tables with our names, and ours in another schema, are reported`() async throws {
        try await TestSchema.with { schema in
            try await TestSchema.with { other in
                try await Self.migrate(other)
                var ground = try await Self.ground(schema).examination.ground
                #expect(ground.elsewhere.contains(other.name))
                ground.elsewhere = [other.name]
                let found = Doctor.judge(ground, isKnown: false)
                #expect(found.map(\.level) == [.look, .look])
                #expect(found[1].what.hasSuffix("other schemas of this database have: \(other.name)"))
                #expect(found[1].remedy.hasSuffix("?options=-csearch_path%3D\(other.name)"))
            }
            try await schema.sql("CREATE TABLE sync_record (id int)")
            let foreign = try await Self.ground(schema).findings
            #expect(foreign.map(\.level) == [.wrong] && foreign[0].what.contains("it did not make them: sync_record"))
            let nowhere = try await Self.ground(schema, ["search_path": "nowhere"]).findings
            #expect(nowhere.map(\.level) == [.wrong] && nowhere[0].what.contains("the schema that search_path names"))
        }
    }

    @Test func `a read-only role, and others' tables and databases, are reported with what to grant`()
        async throws
    {
        try await TestSchema.with { schema in
            let role = "reader_\(schema.name)"
            try await schema.sql("CREATE ROLE \(role)", "GRANT USAGE ON SCHEMA \(schema.name) TO \(role)")
            let unmade = try await Self.ground(schema, ["role": role]).findings
            #expect(unmade.map(\.level) == [.wrong])
            #expect(unmade[0].what.contains("the role \(role) may not make tables in the schema \(schema.name)"))
            #expect(unmade[0].remedy.contains("GRANT CREATE ON SCHEMA \(schema.name) TO \(role)"))

            try await Self.migrate(schema)
            let unread = try await Self.ground(schema, ["role": role]).findings
            #expect(unread.map(\.level) == [.wrong] && unread[0].what.contains("may not read the tables"))
            try await schema.sql("GRANT SELECT ON ALL TABLES IN SCHEMA \(schema.name) TO \(role)")
            let reads = try await Self.ground(schema, ["role": role]).findings
            #expect(reads.map(\.level) == [.wrong, .well])
            #expect(reads[0].what.contains("may not write the tables of the schema \(schema.name): sync_"))
            #expect(reads[0].remedy.contains("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES"))
            try await schema.sql("GRANT INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA \(schema.name) TO \(role)")
            let foreign = try await Self.ground(schema, ["role": role]).findings
            #expect(foreign.map(\.level) == [.look, .well])
            #expect(foreign[0].remedy.contains(" TO \(role)."), "\(foreign)")
            #expect(try await Self.ground(schema).findings.map(\.level) == [.well])
            try await schema.sql("DROP OWNED BY \(role)", "DROP ROLE \(role)")
        }
    }

    @Test func `tables of earlier versions are recognised, with whether they hold data, and who may migrate them`()
        async throws
    {
        try await TestSchema.with { schema in
            try await Self.migrate(schema)
            try await schema.sql("INSERT INTO sync_workspace (workspace) VALUES ('one')")
            let next = PostgresExamination.own + 1
            let earlier = try await Self.ground(schema, own: next)
            #expect(earlier.examination.ground.hasData)
            #expect(earlier.findings.map(\.level) == [.look])
            #expect(earlier.findings[0].remedy.hasPrefix("'tidemark backup FOLDER' first"))
            let role = "other_\(schema.name)"
            try await schema.sql(
                "CREATE ROLE \(role)", "GRANT USAGE, CREATE ON SCHEMA \(schema.name) TO \(role)",
                "GRANT ALL ON ALL TABLES IN SCHEMA \(schema.name) TO \(role)")
            let foreign = try await Self.ground(schema, ["role": role], own: next).findings
            #expect(foreign.map(\.level) == [.look, .wrong])
            #expect(foreign[1].what.contains("the tables belong to the role") && foreign[1].why.contains("it fails"))
            try await schema.sql("DROP OWNED BY \(role)", "DROP ROLE \(role)")
        }
    }

    @Test func `a role or database that is set to read only is distinguished from a standby`() async throws {
        try await TestSchema.with { schema in
            try await Self.migrate(schema)
            let settings = ["default_transaction_read_only": "on"]
            let examination = try await Self.ground(schema, settings).examination
            let configuration = try ServerConfiguration(environment: [
                "TIDEMARK_SECRET": String(repeating: "s", count: 32), "TIDEMARK_DATABASE": "sqlite:/tmp/none",
            ])
            let found = Doctor.judge(examination, configuration).filter { $0.level == .wrong }
            #expect(found.count == 1 && found[0].what.hasPrefix("default_transaction_read_only is on"))
            #expect(found[0].remedy.contains("ALTER DATABASE") && !found[0].remedy.contains("primary"))
            // The report is true.
            let store = try PostgresStore(
                configuration: schema.configuration(settings), node: 1, options: TestSchema.options,
                logger: TestSchema.logger)
            try await withThrowingDiscardingTaskGroup { group in
                group.addTask { try await store.run() }
                defer { store.shutdown() }
                await #expect(throws: StoreError.self) { try await store.probe() }
            }
        }
    }

    @Test func `no pooler is found, sessions are whole, and NOTIFY arrives`() async throws {
        try await TestSchema.with { schema in
            let found = try await ConnectionProbe.run(try schema.configuration())
            #expect(found == ConnectionProbe())
        }
    }
}
