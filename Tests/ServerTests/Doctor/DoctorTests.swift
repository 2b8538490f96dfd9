import Foundation
import NIOPosix
import Testing
import TidemarkEmbeddedStore
import TidemarkPostgres
import TidemarkPostgresStore
import TidemarkTelemetry

@testable import TidemarkAssembly

/// The doctor's findings, on real settings, files and figures.
@Suite(.timeLimit(.minutes(5))) struct DoctorTests {
    private static let now: Int64 = 1_790_000_000_000

    private static func examine(
        _ environment: [String: String], figures: String? = nil, now: Int64 = now
    ) async -> [DoctorFinding] {
        await Doctor(
            environment: environment, overrides: [:], figures: figures.map { text in { @Sendable in text } },
            eventLoops: MultiThreadedEventLoopGroup.singleton, now: { now }
        ).examine()
    }

    private static func inFolder(_ body: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "tidemark-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder)
    }

    /// The files of a healthy server, and the settings that name them.
    private static func sound(_ folder: URL) async throws -> [String: String] {
        let secret = folder.appending(path: "secret")
        try Data(TestServer.secret.utf8).write(to: secret)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: secret.path)
        let database = folder.appending(path: "t.sqlite").path
        let store = try EmbeddedStore(path: database)
        try EmbeddedBlobStore(path: EmbeddedBlobStore.path(besides: database)).close()
        try await store.migrate { _ in }
        try store.close()
        try EmbeddedBackupNote.write([], taken: now - 3_600_000, verified: now, beside: database)
        return [
            "TIDEMARK_SECRET_FILE": secret.path, "TIDEMARK_DATABASE": "sqlite:\(database)",
            "TIDEMARK_ADMIN_LISTEN": "127.0.0.1:8081", "TIDEMARK_TRUSTED_PROXIES": "127.0.0.1",
        ]
    }

    private static func bad(_ findings: [DoctorFinding]) -> [String] {
        findings.filter { $0.level != .well }.map { "\($0.level) \($0.check): \($0.what)" }
    }

    @Test func `a healthy server has no finding to act on, and each good finding says what is well`()
        async throws
    {
        try await Self.inFolder { folder in
            let findings = await Self.examine(try await Self.sound(folder))
            // The limit of open files belongs to the machine.
            #expect(Self.bad(findings.filter { $0.check != "files" && $0.check != "disk" }) == [])
            #expect(Set(findings.map(\.check)).isSuperset(of: ["settings", "disk", "files", "database", "backup"]))
            #expect(findings.allSatisfy { !$0.what.isEmpty && ($0.level == .well) == $0.why.isEmpty })
        }
    }

    /// A change of good settings, and the beginning of the finding that results.
    private static let changes: [(change: [String: String], finding: String)] = [
        (["TIDEMARK_SECRET_FILE": "", "TIDEMARK_DEV": "1"], "look development"),
        (
            [
                "TIDEMARK_SECRET_FILE": "", "TIDEMARK_DEV": "1", "TIDEMARK_DEV_REACHABLE": "1",
                "TIDEMARK_LISTEN": "0.0.0.0:1",
            ], "wrong development"
        ),
        (["TIDEMARK_SECRET_FILE": ""], "look settings: neither a secret"),
        (["TIDEMARK_LISTEN": "nowhere"], "wrong settings: TIDEMARK_LISTEN"),
        (["TIDEMARK_LISTEN": "0.0.0.0:8080", "TIDEMARK_TRUSTED_PROXIES": ""], "look tls"),
        (["TIDEMARK_TRUSTED_PROXIES": ""], "look proxies"),
        (["TIDEMARK_ADMIN_LISTEN": ""], "look figures: there is no"),
        (["TIDEMARK_ADMIN_LISTEN": "0.0.0.0:8081"], "look figures: operators"),
        (["TIDEMARK_SECRET_FILE": "", "TIDEMARK_SECRET": TestServer.secret], "look secrets: TIDEMARK_SECRET is in"),
        (["TIDEMARK_LOG_LEVEL": "debug"], "look log"), (["TIDEMARK_ORIGINS": "http://app.example"], "look origins"),
        (["TIDEMARK_LIMIT_CONNECTIONS": "10000000"], "look files"),
        (["TIDEMARK_DATABASE": "sqlite:/nowhere/t.sqlite"], "look database: /nowhere/t.sqlite does not exist"),
        (["TIDEMARK_DATABASE": "postgres://u:p@127.0.0.1:1/n"], "look secrets: the database's address holds"),
        (["TIDEMARK_DATABASE": "postgres://u@127.0.0.1:1/n"], "wrong database"),
        (["TIDEMARK_TLS_CERTIFICATE": "/nowhere", "TIDEMARK_TLS_KEY": "/nowhere"], "wrong certificate"),
        (["TIDEMARK_LIMIT_DURABLE_HOURS": "1"], "look backup: the newest verified backup is 2 h old, and devices"),
    ]

    @Test(arguments: changes.indices)
    func `a risk is found, with the reason and what to do`(_ index: Int) async throws {
        let (change, expected) = Self.changes[index]
        try await Self.inFolder { folder in
            let settings = try await Self.sound(folder).merging(change) { $1 }
            let later = change.keys.contains("TIDEMARK_LIMIT_DURABLE_HOURS") ? Self.now + 4_000_000 : Self.now
            let findings = await Self.examine(settings, now: later)
            let found = findings.filter { "\($0.level) \($0.check): \($0.what)".hasPrefix(expected) }
            #expect(found.count == 1, "\(Self.bad(findings))")
            #expect(found.allSatisfy { !$0.why.isEmpty && !$0.remedy.isEmpty })
            #expect(!findings.contains { $0.what.contains(TestServer.secret) || $0.what.contains("u:p@") })
        }
    }

    private static let wellFigures = "process_start_time_seconds 100"

    @Test func `of a running server that is not described only its own figures are judged`() async throws {
        let exported = ["TIDEMARK_ADMIN_TOKEN_FILE": "/nowhere/admin_tokens", "TIDEMARK_LOG_LEVEL": "debug"]
        for environment in [[:], exported] {
            let findings = await Self.examine(environment, figures: Self.wellFigures)
            #expect(findings.map(\.check) == ["server"] && findings.map(\.level) == [.well], "\(findings)")
        }
        try await Self.inFolder { folder in
            let sound = try await Self.sound(folder)
            // A database that is named is examined; a server that is not described is not.
            let database = sound.filter { $0.key == "TIDEMARK_DATABASE" }
            let some = await Self.examine(database, figures: Self.wellFigures)
            #expect(Set(some.map(\.check)) == ["disk", "database", "backup", "server"])
            // A server that answers has a listener.
            let all = await Self.examine(
                sound.merging(["TIDEMARK_ADMIN_LISTEN": ""]) { $1 }, figures: Self.wellFigures)
            #expect(all.contains { $0.check == "settings" } && !all.contains { $0.check == "figures" })
        }
    }

    @Test func `tables of an earlier version are reported with what to do before the migration`() {
        let look = Doctor.generation(4, own: 13, "SQLite 3")
        #expect(look.level == .look && look.what.contains("generation 4, this version's is 13"))
        #expect(look.remedy.hasPrefix("'tidemark backup FOLDER' first"))
        #expect(Doctor.generation(13, own: 13, "SQLite 3").level == .well)
        #expect(Doctor.generation(14, own: 13, "SQLite 3").level == .well)
    }

    @Test func `files that other users can read, an old backup and a damaged database are found`() async throws {
        try await Self.inFolder { folder in
            let settings = try await Self.sound(folder)
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o644], ofItemAtPath: folder.appending(path: "secret").path)
            let late = await Self.examine(settings, now: Self.now + 3 * 86_400_000)
            #expect(Self.bad(late).contains { $0.hasPrefix("look secrets") && $0.contains("mode 644") })
            #expect(Self.bad(late).contains { $0.hasPrefix("look backup: the newest verified backup is 3 days old") })
            try Data("no database at all, and long enough".utf8).write(to: folder.appending(path: "t.sqlite"))
            #expect(Self.bad(await Self.examine(settings)).contains { $0.hasPrefix("wrong database") })
        }
    }

    @Test(arguments: [(20.0, DoctorFinding.Level.well), (10, .look), (2, .wrong), (-1, .wrong)])
    func `the end of a certificate is reported in time`(_ days: Double, _ level: DoctorFinding.Level) {
        #expect(Doctor.certificate(endsIn: days * 86_400, "c").level == level)
    }

    @Test(arguments: [
        (0 as Int64, 5 as Int64, DoctorFinding.Level.well), (-1_500, 600, .well), (1_500, 10, .look),
        (-40_000, 10, .wrong),
        (.max, 0, .wrong),
    ])
    func `clocks that differ are reported with the difference, less the time of the request`(
        _ ahead: Int64, _ doubt: Int64, _ level: DoctorFinding.Level
    ) {
        #expect(Doctor.clock(ahead, doubt: doubt).level == level)
    }

    @Test func `settings that a pooler breaks are named`() {
        var probe = ConnectionProbe()
        #expect(Doctor.judge(probe).map(\.level) == [.well])
        probe.hears = false
        #expect(Doctor.judge(probe).map(\.level) == [.look])
        probe.pooler = "PgBouncer 1.18.0"
        probe.sharesSessions = true
        probe.keepsStatements = false
        let finding = Doctor.judge(probe).first
        #expect(finding?.level == .wrong)
        for word in ["PgBouncer 1.18.0", "transaction mode", "LISTEN", "prepared statements", "advisory locks"] {
            #expect(finding?.what.contains(word) == true)
        }
        #expect(Doctor.judge(ConnectionProbe.session("PgBouncer 1.18.0")).map(\.level) == [.well])
        #expect(probe.refusal?.hasPrefix("PgBouncer 1.18.0 is in transaction mode") == true)
        #expect(ConnectionProbe.session("PgBouncer 1.18.0").refusal == nil && ConnectionProbe().refusal == nil)
    }

    @Test func `a running server is judged by the thresholds of the alerts`() {
        func judged(_ lines: String...) -> [String] {
            let text = ["process_start_time_seconds 100", #"tidemark_sockets{state="synced"} 100"#] + lines
            return Self.bad(Doctor.judge(ServerFigures(text.joined(separator: "\n")), now: 1_000)).map {
                String($0.prefix { $0 != ":" })
            }
        }
        #expect(judged() == [])
        #expect(judged("tidemark_unserved_age_seconds 15", "tidemark_key_set_age_seconds 43200") == [])
        #expect(judged("tidemark_unserved_age_seconds 16") == ["wrong server"])
        #expect(judged("tidemark_key_set_age_seconds +Inf") == ["wrong server"])
        #expect(judged(#"tidemark_store_fault{fault="store_full"} 1"#) == ["wrong server"])
        #expect(judged(#"tidemark_epochs_total{reason="head"} 1"#) == ["wrong server"])
        #expect(judged("tidemark_lane_depth 5001") == ["wrong server"])
        #expect(judged(#"tidemark_sockets{state="open"} 95"#, "tidemark_sockets_max 100") == ["wrong server"])
        #expect(judged("tidemark_slow_consumers 21") == ["look server"])
        #expect(judged("tidemark_certificate_end_seconds 1100") == ["wrong certificate"])
        #expect(judged("tidemark_certificate_end_seconds NaN") == [])
        #expect(Self.bad(Doctor.judge(ServerFigures("<html>"), now: 1)).count == 1)
    }

    @Test func `a running server's own figures are parsed, and show that all is well`() async throws {
        try await TestServer.running(environment: TestServer.operated) { server in
            let text = try await server.callAdmin("/metrics").text
            let findings = Doctor.judge(ServerFigures(text), now: Date().timeIntervalSince1970)
            #expect(findings.map(\.level) == [.well] && findings.map(\.check) == ["server"], "\(findings)")
        }
    }
}

extension ConnectionProbe {
    fileprivate static func session(_ pooler: String) -> ConnectionProbe {
        var probe = ConnectionProbe()
        probe.pooler = pooler
        return probe
    }
}
