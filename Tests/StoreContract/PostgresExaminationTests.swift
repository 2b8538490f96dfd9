import Foundation
import Synchronization
import Testing
import TidemarkModel
import TidemarkPostgres
import TidemarkStore

@testable import TidemarkAssembly
@testable import TidemarkPostgresStore

/// What the doctor reads of a PostgreSQL that is real.
@Suite(.enabled(if: TestSchema.isGiven, "TIDEMARK_TEST_POSTGRES names no database"), .timeLimit(.minutes(5)))
struct PostgresExaminationTests {
    private static func now() -> Int64 { Int64(Date().timeIntervalSince1970 * 1_000) }

    @Test func `its version, tables, settings, clock and backups are read, before there are tables and after`()
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

    @Test func `settings that lose data, or commits of others, are found`() async throws {
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

    @Test func `nothing stands between, sessions are whole, and NOTIFY is heard`() async throws {
        try await TestSchema.with { schema in
            let found = try await ConnectionProbe.run(try schema.configuration())
            #expect(found == ConnectionProbe())
        }
    }
}
