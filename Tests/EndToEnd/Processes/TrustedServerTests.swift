import Foundation
import Testing

@testable import TidemarkTerminal

/// The device's programs, and a server whose certificate a private authority has signed.
@Suite(.timeLimit(.minutes(5))) struct TrustedServerTests {
    @Test func `the messenger and the benchmark reach it if they are given the authority`()
        async throws
    {
        let folder = try TemporaryFolder("tidemark-tests")
        let chain = "\(folder.path)/chain.pem"
        let openssl = try ChildProcess(
            "/usr/bin/env",
            [
                "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj",
                "/CN=localhost", "-days", "2", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout",
                "\(folder.path)/key.pem", "-out", chain,
            ], environment: [:])
        #expect(await openssl.ended() == 0, "openssl is needed for this test")
        let secret = "\(folder.path)/secret"
        try String(repeating: "0123456789abcdef", count: 4).write(toFile: secret, atomically: true, encoding: .utf8)
        let server = try ChildProcess(
            try Binary.path,
            [
                "serve", "--secret-file", secret, "--schema", try ServerProcess.chatSchema(in: folder.path), "--listen",
                "127.0.0.1:0", "--database", "sqlite:\(folder.path)/t.sqlite", "--tls-certificate", chain, "--tls-key",
                "\(folder.path)/key.pem",
            ], environment: [:])
        defer { server.signal(SIGKILL) }
        var address: String?
        for await line in server.lines {
            guard let found = line.firstRange(of: "https://127.0.0.1:") else { continue }
            address = "https://127.0.0.1:" + line[found.upperBound...].prefix { $0.isNumber }
            break
        }
        let url = try #require(address)
        func tide(_ words: [String], trusts: Bool = true) async throws -> Binary.Outcome {
            let trust = trusts ? ["--trust", chain] : []
            let command = ([try Binary.path(of: "tide")] + words + trust).map { "'\($0)'" }.joined(separator: " ")
            let child = try ChildProcess("/bin/sh", ["-c", "echo hello | \(command)"], environment: [:])
            return try await withTimeout(.seconds(120), "tide did not end") {
                var lines: [String] = []
                for await line in child.lines { lines.append(line) }
                return Binary.Outcome(status: await child.ended(), text: lines.joined(separator: "\n"))
            }
        }
        let chat = [
            "chat", "--user", "ann", "--conversation", "bob", "--server", url, "--secret-file", secret, "--database",
            "\(folder.path)/ann.sqlite", "--patience",
        ]
        let stranger = try await tide(chat + ["1s"], trusts: false)
        #expect(stranger.status == 1 && stranger.text.contains("not sent yet"), "\(stranger.text)")
        let known = try await tide(chat + ["60s"])
        #expect(known.status == 0, "\(known.text)")
        let bench = try await tide([
            "bench", "writes", "--writers", "2", "--seconds", "1", "--server", url, "--secret-file", secret, "--json",
        ])
        #expect(bench.status == 0 && bench.text.contains("writes_per_s"), "\(bench.text)")
    }
}
