import Foundation
import Testing

@testable import TidemarkTerminal

/// The doctor, and a replaced certificate, with real programs.
@Suite(.timeLimit(.minutes(5))) struct DoctorProcessTests {
    private struct Report: Decodable {
        struct Finding: Decodable {
            let check: String
            let level: String
            let what: String
            let why: String
            let remedy: String
        }
        let status: String
        let findings: [Finding]
    }

    private static func report(_ outcome: Binary.Outcome) throws -> Report {
        try JSONDecoder().decode(Report.self, from: Data(outcome.text.utf8))
    }

    @Test func `the exit status says whether there are findings, and JSON lists them`() async throws {
        let server = try await LiveServer.start()
        let secret = try server.secretFile()
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: secret)
        // It runs beside the server that uses the file.
        let options = ["doctor", "--json", "--database", server.database, "--secret-file", secret]
        let before = try await Binary.run(options)
        #expect(before.status == 1)
        let found = try Self.report(before)
        #expect(found.status == "look")
        #expect(found.findings.contains { $0.check == "backup" && $0.level == "look" && !$0.remedy.isEmpty })
        #expect(found.findings.contains { $0.check == "secrets" && $0.what.contains("may be read by others") })
        let backup = try await Binary.run(["backup", "\(server.folder.path)/backup", "--database", server.database])
        #expect(backup.status == 0, "\(backup.text)")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: secret)
        let sound = [
            "TIDEMARK_ADMIN_LISTEN": "127.0.0.1:8081", "TIDEMARK_TRUSTED_PROXIES": "127.0.0.1",
            "TIDEMARK_LIMIT_CONNECTIONS": "10",
        ]
        let after = try await Binary.run(options, environment: sound)
        let well = try Self.report(after)
        let bad = well.findings.filter { $0.level != "well" && $0.check != "disk" }
        #expect(bad.isEmpty, "\(bad)")
        #expect(after.status == (well.status == "well" ? 0 : 2))
        let wrong = try await Binary.run(options + ["--listen", "nowhere"])
        #expect(wrong.status == 2)
        #expect(try Self.report(wrong).findings.contains { $0.check == "settings" && $0.level == "wrong" })
        #expect(try await Binary.run(["doctor", "--limit", "NONE"]).status == 64)
        let text = try await Binary.run(options.filter { $0 != "--json" })
        #expect(text.status == 1 && text.text.contains("LOOK   figures: there is no listener for operators"))
        await server.process.kill()
    }

    @Test func `SIGHUP loads a new certificate at once, and does not end the server`() async throws {
        let folder = try TemporaryFolder("tidemark-tests")
        func make(days: Int) async throws {
            let words = [
                "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj",
                "/CN=localhost", "-days", "\(days)", "-keyout", "\(folder.path)/key.pem", "-out",
                "\(folder.path)/chain.pem",
            ]
            let openssl = try ChildProcess("/usr/bin/env", words, environment: [:])
            #expect(await openssl.ended() == 0, "openssl is needed for this test")
        }
        try await make(days: 10)
        let server = try ChildProcess(
            try Binary.path,
            [
                "serve", "--dev", "--listen", "127.0.0.1:0", "--database", "sqlite:\(folder.path)/t.sqlite",
                "--tls-certificate", "\(folder.path)/chain.pem", "--tls-key", "\(folder.path)/key.pem",
            ], environment: [:])
        var seen: [String] = []
        for await line in server.lines {
            seen.append(line)
            if line.contains("tidemark listening on https://127.0.0.1:") {
                try await make(days: 20)
                server.signal(SIGHUP)
            }
            if line.contains("A new certificate is in use") { server.signal(SIGTERM) }
        }
        #expect(seen.contains { $0.contains("A new certificate is in use") }, "\(seen)")
        #expect(await server.ended() == 0)
    }
}
