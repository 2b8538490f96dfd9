import Foundation
import Logging
import Testing
import TidemarkIdentity
import TidemarkModel

@testable import TidemarkAssembly
@testable import TidemarkCommandLine
@testable import TidemarkDaemon
@testable import TidemarkTerminal

/// The program as a user of the shell sees it.
@Suite struct CommandTests {
    /// Each command, and the words that its help must contain.
    private static let helps = [
        [
            "tidemark serve", "--database", "--listen", "--schema", "--secret-file", "--dev", "--log-level", "--rate",
            "--ledger-days", "--config", "--name", "--node",
            "--limit", "--issuers", "--cursor-key-file", "--tls-certificate", "--tls-key", "--trusted-proxies",
            "--proxy-field", "--proxy-protocol", "--host-names", "--origins", "--dev-reachable",
        ],
        ["tidemark doctor", "--server", "--json", "--database", "--secret-file", "--tls-certificate"],
        ["tidemark token explain", "--issuers", "--secret-file", "--dev", "--dev-data"],
        ["tidemark token", "--user", "--workspace", "--ttl", "--service", "--operator", "--secret-file", "--dev"],
        [
            "tidemark schema apply", "--dry-run", "--accept", "--min-app", "--note", "--server", "--secret-file",
            "--dev",
        ],
        ["tidemark schema show", "--server", "--secret-file", "--dev"],
        ["tidemark schema check", "<file>"],
        ["tidemark schema diff", "<old>", "<new>"],
        ["tidemark schema swift", "<file>"],
        ["tidemark erase scope", "<scope>", "--workspace", "--plan", "--yes", "--database"],
        ["tidemark erase user", "<user>", "--workspace", "--plan", "--yes", "--database"],
        ["tidemark erase workspace", "--workspace", "--plan", "--yes", "--database"],
        ["tidemark migrate", "--database", "--plan", "--contract", "--patience"],
        ["tidemark backup", "<to>", "--database", "--no-verify", "--programs"],
        ["tidemark restore", "<from>", "--database", "--no-verify", "--programs"],
        ["tidemark verify", "<from>", "--database", "--programs"],
        [
            "tide demo", "--from", "--messages", "--clients", "--nodes", "--kills", "--database", "--seed", "--folder",
            "--through", "--trust", "--first-port",
        ],
        [
            "tide chat", "--user", "--conversation", "--with", "--server", "--database", "--token-file", "--dev",
            "--patience",
        ],
        ["tidemark settings"],
        ["tide inspect", "--json", "--live", "--server", "--schema", "--token-file", "--dev", "record COLLECTION ID"],
        [
            "tide bench writes", "--writers", "--sharing", "--in-flight", "--seconds", "--bytes", "--server",
            "--database",
            "--json",
        ],
        ["tide bench fanout", "--subscribers", "--writers", "--rate", "--seconds", "--bytes", "--server", "--json"],
        ["tide bench catchup", "--records", "--clients", "--bytes", "--server", "--json"],
        ["tide bench idle", "--connections", "--server-process", "--json"],
        ["tide bench local", "--messages", "--conversations", "--rounds", "--strict", "--slack", "--json"],
        ["tide bench sdk", "--writes", "--records", "--bytes", "--json"],
    ]

    @Test(arguments: helps)
    func `the help of a command names each of its options`(_ words: [String]) async throws {
        let command = words[0].split(separator: " ").map(String.init)
        let help = try await Binary.run(command.dropFirst() + ["--help"], of: command[0])
        #expect(help.status == 0)
        for option in words.dropFirst() { #expect(help.text.contains(option), "\(option) is not in\n\(help.text)") }
    }

    @Test(
        arguments: helps + [
            ["tidemark"], ["tidemark schema"], ["tidemark schema sample"], ["tidemark erase"], ["tide"], ["tide bench"],
        ])
    func `help fits a terminal of 80 columns, and breaks no line twice`(_ words: [String]) async throws {
        let command = words[0].split(separator: " ").map(String.init) + ["--help"]
        func lines(_ columns: Int) async throws -> [String] {
            let help = try await Binary.run(
                Array(command.dropFirst()), of: command[0], environment: ["COLUMNS": "\(columns)"]
            ).text
            // The line with the usage is not wrapped, however wide the terminal is.
            return help.components(separatedBy: "\n").filter { !$0.hasPrefix("USAGE: ") }
        }
        let (narrow, wide) = (try await lines(80), try await lines(1_000))
        for line in narrow { #expect(line.count <= 80, "\(line)") }
        let text = wide.prefix { $0 != "OPTIONS:" && $0 != "ARGUMENTS:" }
        for line in text where line.hasPrefix(" ") { #expect(narrow.contains(line), "broken at 80 columns: \(line)") }
        for line in text where !line.isEmpty && !line.hasPrefix(" ") && line != "EXAMPLES" && !line.hasPrefix("LIMITS")
        {
            #expect(line.hasSuffix("."), "broken by hand: \(line)")
        }
    }

    @Test func `the version is printed`() async throws {
        for program in ["tidemark", "tide"] {
            let told = try await Binary.run(["--version"], of: program)
            #expect(told.status == 0 && told.text == "\(program) \(ProgramVersion.number), protocol version 1")
        }
    }

    @Test func `the help of serve has the default of each limit`() async throws {
        let help = try await Binary.run(["serve", "--help"], environment: ["COLUMNS": "1000"]).text
            .split(whereSeparator: \.isWhitespace).joined(separator: " ")
        for setting in LimitSetting.all { #expect(help.contains("(default: \(setting.usual))"), "\(setting.name)") }
        #expect(help.contains("RATE transactions a second that one client may sustain (default: 100)"))
        #expect(help.contains("default: 127.0.0.1:8080"))
    }

    @Test(arguments: [
        (
            ["--limit", "RATE=abc"],
            "--limit RATE=abc: RATE must be a whole number from 1 to 1000000: transactions a second"
        ),
        (["--rate", "abc"], "--rate abc: RATE must be a whole number from 1 to 1000000"),
        (["--ledger-days", "-1"], "--ledger-days"),
        (["--limit", "burst=0"], "--limit burst=0: BURST must be"),
        (["--limit", "NONE=1"], "there is no limit NONE; those"),
    ])
    func `a refused limit is named, with its range and its default`(
        _ options: [String], _ words: String
    ) async throws {
        let outcome = try await Binary.run(["serve", "--dev"] + options)
        #expect(outcome.status == 64 && outcome.text.contains(words), "\(outcome.text)")
        #expect(outcome.text.contains("Usage: tidemark serve"), "\(outcome.text)")
        let variable = try await Binary.run(["serve", "--dev"], environment: ["TIDEMARK_LIMIT_RATE": "abc"])
        #expect(variable.status == 1 && variable.text.contains("100 by default"), "\(variable.text)")
    }

    @Test func `the help of serve names the environment variable of each of its settings`() async throws {
        let help = try await Binary.run(["serve", "--help"])
        for variable in ["DATABASE", "LISTEN", "SCHEMA", "SECRET_FILE", "SECRET", "DEV", "LOG_LEVEL", "LIMIT_RATE"] {
            #expect(help.text.contains("TIDEMARK_\(variable)"), "\(variable)")
        }
    }

    @Test(arguments: [
        ["tidemark", "serve", "--nonsense"], ["tidemark", "serve", "--dev", "--listen", "nowhere"],
        ["tidemark", "serve", "--dev", "--log-level", "loud"],
        ["tidemark", "serve", "--dev", "--limit", "RATE"], ["tidemark", "serve", "--dev", "--limit", "NONE=1"],
        ["tidemark", "serve", "--dev", "--rate", "0"], ["tidemark", "serve", "--dev", "--database", "mysql://x"],
        ["tidemark", "token", "--dev"],
        ["tidemark", "token", "--dev", "--user", "ann", "--ttl", "soon"],
        ["tidemark", "token", "--dev", "--user", "ann", "--ttl", "48h"],
        ["tide", "demo", "--messages", "0"], ["tide", "demo", "--nodes", "2"],
        ["tide", "demo", "--kills", "9", "--messages", "5"],
        ["tide", "bench", "writes", "--writers", "0"], ["tide", "bench", "idle", "--server", "nowhere"],
        ["tidemark", "nonsense"], ["tide", "nonsense"], ["tide", "serve"],
        ["tide", "chat", "--user", "ann"],
        ["tide", "chat", "--user", "ann", "--conversation", "bob", "--server", "nowhere"],
    ])
    func `wrong usage ends with status 64 and says what is wrong`(_ words: [String]) async throws {
        let outcome = try await Binary.run(Array(words.dropFirst()), of: words[0])
        #expect(outcome.status == 64, "\(outcome.text)")
        #expect(outcome.text.contains("Error:"), "\(outcome.text)")
    }

    @Test func `a server prints its address and stops in good order`() async throws {
        let server = try await LiveServer.start()
        #expect(server.address.port > 0)
        #expect(try await server.process.stop() == 0)
    }

    @Test func `a server without a secret says how to get one`() async throws {
        let schema = try await Binary.run(["schema", "sample"])
        let folder = try TemporaryFolder("tidemark-tests")
        defer { withExtendedLifetime(folder) {} }
        let file = "\(folder.path)/app.schema.json"
        try schema.text.write(toFile: file, atomically: true, encoding: .utf8)
        let outcome = try await Binary.run(["serve", "--listen", "127.0.0.1:0", "--schema", file])
        #expect(outcome.status == 1)
        #expect(outcome.text.contains("TIDEMARK_SECRET_FILE"), "\(outcome.text)")
    }

    @Test func `a server without a schema says what to do`() async throws {
        let secret = String(repeating: "s", count: 32)
        let outcome = try await Binary.run(
            ["serve", "--listen", "127.0.0.1:0"], environment: ["TIDEMARK_SECRET": secret])
        #expect(outcome.status == 1)
        for words in ["TIDEMARK_SCHEMA", "tidemark schema sample", "--dev"] {
            #expect(outcome.text.contains(words), "\(outcome.text)")
        }
    }

    @Test func `a server with the same secret accepts a token`() async throws {
        let (secret, text) = try TokenSecret.random()
        let outcome = try await Binary.run(
            ["token", "--user", "ann", "--workspace", "acme", "--ttl", "90s", "--service"],
            environment: ["TIDEMARK_SECRET": text])
        #expect(outcome.status == 0)
        let issuers = [await Issuer.own([secret])]
        let keys = KeyService(for: issuers, now: wallClock, logger: Logger(label: "test")) { _ throws(KeyFetchError) in
            throw KeyFetchError("there is nothing to fetch")
        }
        let (answer, _) = await TokenVerifier(issuers, keys: keys, now: wallClock).verify(outcome.text)
        guard case .accepted(let verified) = answer else {
            Issue.record("\(answer)")
            return
        }
        #expect(verified.user == UserID("ann"))
        #expect(verified.workspace == WorkspaceID("acme"))
        #expect(verified.isService)
        #expect((1...90_000).contains(verified.expiresAt - wallClock()))
    }

    @Test func `a token is explained as a server would judge it, with an exit status for scripts`() async throws {
        let folder = try TemporaryFolder("tidemark-tests")
        defer { withExtendedLifetime(folder) {} }
        let none = try await Binary.run(["token", "--dev", "--dev-data", folder.path, "--user", "ann"])
        #expect(none.status == 1 && none.text.contains("start 'tidemark serve --dev'"), "\(none.text)")
        let secret = try folder.file("dev_secret", String(repeating: "s", count: 32))
        let given = ["--dev", "--dev-data", folder.path]
        let token = try await Binary.run(["token", "--user", "ann", "--workspace", "acme"] + given).text
        let byFile = try await Binary.run(["token", "explain", "--secret-file", secret, token])
        #expect(byFile.status == 0, "\(byFile.text)")
        let good = try await Binary.run(["token", "explain", token] + given)
        #expect(good.status == 0 && good.text.contains(#"accepted: user "ann" in workspace "acme""#), "\(good.text)")
        let bad = try await Binary.run(["token", "explain", token.dropLast(4) + "AAAA"] + given)
        #expect(bad.status == 1 && bad.text.contains("refused: bad_signature"), "\(bad.text)")

        let file = "\(folder.path)/issuers.json"
        let keys = #"{"url": "http://127.0.0.1:1/keys", "allow_addresses": "127.0.0.1"}"#
        let issuer = #""issuer": "https://id.example", "audience": "app", "algorithms": "ES256""#
        try #"{"issuers": [{"name": "id", \#(issuer), "keys": \#(keys)}]}"#
            .write(toFile: file, atomically: true, encoding: .utf8)
        func part(_ text: String) -> String { Data(text.utf8).base64EncodedString().replacing("=", with: "") }
        let now = wallClock() / 1_000
        let claims = #"{"iss":"https://id.example","aud":"app","sub":"ann","iat":\#(now),"exp":\#(now + 600)}"#
        let foreign =
            "\(part(#"{"alg":"ES256","kid":"k"}"#)).\(part(claims)).\(part(String(repeating: "s", count: 64)))"
        let unknown = try await Binary.run(["token", "explain", "--issuers", file, foreign])
        #expect(unknown.status == 2 && unknown.text.contains("the last fetch failed"), "\(unknown.text)")

        try #"{"issuers": [{"preset": "okta"}]}"#.write(toFile: file, atomically: true, encoding: .utf8)
        for (command, status) in [
            (["token", "explain", "--issuers", file, foreign], 1), (["serve", "--issuers", file, "--dev"], 64),
        ] as [([String], Int32)] {
            let wrong = try await Binary.run(command)
            #expect(
                wrong.status == status && wrong.text.contains(#"line 1: issuers[0].preset: unknown preset "okta""#),
                "\(wrong.text)")
        }
    }

    @Test func `a schema is summarised, or refused with the position of its mistake`() async throws {
        let folder = try TemporaryFolder("tidemark-tests")
        defer { withExtendedLifetime(folder) {} }
        let good = "\(folder.path)/good.json"
        let bad = "\(folder.path)/bad.json"
        let text = #"{"tidemark":1,"name":"shop","collections":{"orders":{"scope":"self","members":"staff","#
        try (text + #""fields":{"staff":{"type":"set","merge":"elements"}}}}}"#)
            .write(toFile: good, atomically: true, encoding: .utf8)
        try (text + #""fields":{"staff":{"type":"crowd"}}}}}"#).write(toFile: bad, atomically: true, encoding: .utf8)
        let accepted = try await Binary.run(["schema", "check", good])
        #expect(accepted.status == 0)
        #expect(accepted.text.contains("shop, version 1"))
        #expect(accepted.text.contains("staff  set elements"))
        let refused = try await Binary.run(["schema", "check", bad])
        #expect(refused.status == 1)
        #expect(refused.text.contains("orders.staff"), "\(refused.text)")
    }

    @Test func `a loss for older apps is named, and fails the check until it is accepted`() async throws {
        let folder = try TemporaryFolder("tidemark-tests")
        defer { withExtendedLifetime(folder) {} }
        func file(_ name: String, _ more: String, _ fields: String) throws -> String {
            let text = """
                {"tidemark": 1, "name": "shop", \(more), "collections": {"orders": {
                    "scope": {"shared": "all"}, "fields": {\(fields)}}}}
                """
            try text.write(toFile: "\(folder.path)/\(name)", atomically: true, encoding: .utf8)
            return "\(folder.path)/\(name)"
        }
        let old = try file("old.json", #""version": 1"#, #""problem": "string", "note": "string""#)
        let wider = try file(
            "wider.json", #""version": 2"#,
            #""fault": {"type": "string", "was": "problem"}, "note": "string", "paid": "boolean""#)
        let narrower = try file("narrower.json", #""version": 2"#, #""problem": "string""#)
        let fine = try await Binary.run(["schema", "check", wider, "--against", old])
        #expect(fine.status == 0, "\(fine.text)")
        #expect(fine.text.contains("added\n  orders.paid"))
        #expect(fine.text.contains("renamed\n  orders.problem to fault"))
        let refused = try await Binary.run(["schema", "check", narrower, "--against", old])
        #expect(refused.status == 1)
        #expect(refused.text.contains("taken away\n  orders.note"))
        #expect(refused.text.contains("--accept"))
        let accepted = try await Binary.run(["schema", "check", narrower, "--against", old, "--accept"])
        #expect(accepted.status == 0 && accepted.text.contains("taken away"))
        let alone = try await Binary.run(["schema", "check", old, "--accept"])
        #expect(alone.status == 64 && alone.text.contains("--against"))
    }
}
