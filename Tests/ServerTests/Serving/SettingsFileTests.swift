import Foundation
import Logging
import Testing
import TidemarkEdge
import TidemarkHub
import TidemarkNode
import TidemarkStore
import TidemarkWire

@testable import TidemarkAssembly

/// Settings from a file, beside the environment and the command line.
@Suite struct SettingsFileTests {
    private static let secret = String(repeating: "s", count: 32)

    /// Writes a settings file and a secret into a folder that exists during a closure.
    private func withFile<Result>(_ text: String, _ body: (_ path: String) throws -> Result) throws -> Result {
        let folder = FileManager.default.temporaryDirectory.appending(path: "tidemark-settings-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data(Self.secret.utf8).write(to: folder.appending(path: "token_secret"))
        let file = folder.appending(path: "tidemark.json")
        try Data(text.utf8).write(to: file)
        return try body(file.path)
    }

    private func configuration(
        _ text: String, _ environment: [String: String] = [:], _ overrides: [Setting: String] = [:]
    ) throws -> ServerConfiguration {
        try withFile(text) { path in
            try ServerConfiguration(
                environment: environment.merging(["TIDEMARK_CONFIG": path]) { $1 }, overrides: overrides)
        }
    }

    @Test func `a byte order mark before the first line is not part of settings, schema or issuers`() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "tidemark-marks-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let texts = [
            "token_secret": Self.secret,
            "schema.json": try String(contentsOfFile: TestServer.schemaFile, encoding: .utf8),
            "issuers.json": #"{"issuers": [{"preset": "firebase", "project": "my-app"}]}"#,
            "tidemark.json": #"{"secret_file": "token_secret", "schema": "schema.json", "issuers": "issuers.json"}"#,
        ]
        for (name, text) in texts { try Data("\u{feff}\(text)".utf8).write(to: folder.appending(path: name)) }
        let configuration = try ServerConfiguration(
            environment: ["TIDEMARK_CONFIG": folder.appending(path: "tidemark.json").path])
        #expect(configuration.issuers != nil && configuration.secret != nil)
        let plain = try ServerConfiguration(
            environment: ["TIDEMARK_SECRET": Self.secret, "TIDEMARK_SCHEMA": TestServer.schemaFile])
        let cursor = try #require(plain.cursors).cursor(.start, workspace: "w")
        #expect(try #require(configuration.cursors).open(cursor, workspace: "w") != nil)
    }

    @Test func `a file has the same settings as the environment, with paths from its own folder`() throws {
        let configuration = try configuration(
            """
            { "listen": "0.0.0.0:9000", "admin_listen": "127.0.0.1:9001", "secret_file": "token_secret",
              "database": "data/t.sqlite", "node": 7, "name": "north", "log_level": "debug", "durable": "age=2h",
              "origins": ["https://a.example", "https://b.example"], "trusted_proxies": "::1",
              "proxy_protocol": true, "limits": { "rate": 250, "message_bytes": 65536 } }
            """)
        #expect(configuration.listen.description == "0.0.0.0:9000" && configuration.adminListen?.port == 9_001)
        #expect(configuration.secret != nil && configuration.database.path?.hasSuffix("/data/t.sqlite") == true)
        #expect(configuration.database.path?.hasPrefix("/") == true)
        #expect(configuration.nodeID == 7 && configuration.name == "north" && configuration.logLevel == .debug)
        #expect(configuration.origins == ["https://a.example", "https://b.example"])
        #expect(configuration.proxies != nil && configuration.limits.node.durable == .age(.seconds(7_200)))
        #expect(configuration.limits.wire.transactionsPerSecond == 250)
        #expect(configuration.limits.edge.messageBytesMax == 65_536)
    }

    @Test func `a limit in the environment has priority over the same setting in a file`() throws {
        let text = #"{ "durable": "backup", "dev": true }"#
        #expect(try configuration(text).limits.node.durable == .backup)
        let both = try configuration(text, ["TIDEMARK_LIMIT_DURABLE_HOURS": "5"])
        #expect(both.limits.node.durable == .age(.seconds(18_000)))
    }

    @Test func `commands beside the server find what they need in the file that the environment names`() throws {
        try withFile(#"{ "secret_file": "token_secret", "admin_token_file": "admin" }"#) { path in
            let environment = ["TIDEMARK_CONFIG": path]
            let found = try Setting.secretFile.given(nil, environment)
            #expect(found?.hasSuffix("/token_secret") == true && found?.hasPrefix("/") == true)
            #expect(try Setting.secretFile.given("mine", environment) == "mine")
            #expect(
                try Setting.adminTokenFile.given(
                    nil, environment.merging(["TIDEMARK_ADMIN_TOKEN_FILE": "theirs"]) { $1 })
                    == "theirs")
            #expect(try Setting.adminTokenFile.given(nil, [:]) == nil)
            #expect(throws: ConfigurationError.self) {
                try Setting.secretFile.given(nil, ["TIDEMARK_CONFIG": path + ".none"])
            }
        }
    }

    @Test func `an option has priority over the environment, and that over the file`() throws {
        let text = #"{ "name": "file", "listen": "127.0.0.1:1", "dev": true, "limits": { "rate": 5, "burst": 6 } }"#
        let file = try configuration(text)
        #expect(file.name == "file" && file.listen.port == 1 && file.limits.wire.transactionsPerSecond == 5)
        let environment = ["TIDEMARK_NAME": "environment", "TIDEMARK_LIMIT_RATE": "50", "TIDEMARK_LISTEN": ""]
        let both = try configuration(text, environment)
        #expect(both.name == "environment" && both.listen.port == 1)
        #expect(both.limits.wire.transactionsPerSecond == 50 && both.limits.wire.transactionsBurst == 6)
        #expect(try configuration(text, environment, [.name: "option"]).name == "option")
    }

    @Test func `a secret in the environment has priority over the file that the settings name`() throws {
        let other = String(repeating: "o", count: 32)
        let environment = ["TIDEMARK_SECRET": other, "TIDEMARK_SCHEMA": TestServer.schemaFile]
        let configuration = try configuration(#"{ "secret_file": "token_secret" }"#, environment)
        let alone = try ServerConfiguration(environment: environment)
        let cursor = try #require(configuration.cursors).cursor(.start, workspace: "w")
        #expect(try #require(alone.cursors).open(cursor, workspace: "w") != nil)
    }

    @Test(arguments: [
        ("{\n \"lisen\": \"h:1\" }", "line 2", "there is no setting \"lisen\""),
        ("{\n\n \"listen\": 8080 }", "line 3", "listen must be a text"),
        ("{ \"dev\": \"yes\" }", "line 1", "dev must be true or false"),
        ("{ \"dev\": true,\n \"limits\": { \"rat\": 1 } }", "line 2", "there is no limit \"rat\""),
        ("{ \"dev\": true,\n \"limits\": { \"rate\": \"1\" } }", "line 2", "limits.rate must be a whole number"),
        ("{ \"dev\": true,\n \"limits\": { \"rate\": 0 } }", "line 2, limits.rate", "from 1 to 1000000"),
        ("{ \"dev\": true,\n \"listen\": \"8080\" }", "line 2, listen", "has no port"),
        ("{ \"dev\": true,\n \"schema\": \"not-there.json\" }", "line 2, schema", "cannot read the file /"),
        ("{ \"secret\": \"abc\" }", "line 1", "may not be in a file of settings"),
        ("{ \"config\": \"other.json\" }", "line 1", "there is no setting \"config\""),
        ("{ \"name\": \"a\",\n \"name\": \"b\" }", "line 2", "occurs twice"),
        ("{ \"origins\": [1] }", "line 1", "origins must be a list of texts"),
        ("[]", "line 1", "must be an object"), ("{ \"name\": }", "line 1", "not JSON"), ("", "line 1", "not JSON"),
    ])
    func `a mistake in a file is named with its line`(_ text: String, _ place: String, _ reason: String) throws {
        let error = #expect(throws: ConfigurationError.self) { try configuration(text) }
        #expect(error?.setting.hasSuffix("tidemark.json, " + place) == true, "\(error?.description ?? "")")
        #expect(error?.reason.contains(reason) == true, "\(error?.description ?? "")")
        #expect(error?.description.contains("abc") == false)
    }

    @Test func `a missing file is refused with the name of its setting`() throws {
        let error = #expect(throws: ConfigurationError.self) {
            try ServerConfiguration(environment: ["TIDEMARK_CONFIG": "/nowhere/at/all"])
        }
        #expect(error?.setting == "TIDEMARK_CONFIG")
    }

    @Test func `commands work on the database that the file names, unless the environment or an option does`() throws {
        func location(_ option: String?, _ environment: [String: String]) throws -> DatabaseLocation {
            try withFile(#"{ "database": "postgres://file@/t" }"#) { path in
                try DatabaseLocation(given: option, environment.merging(["TIDEMARK_CONFIG": path]) { $1 })
            }
        }
        #expect(try location(nil, [:]) == .postgres(uri: "postgres://file@/t"))
        #expect(try location(nil, ["TIDEMARK_DATABASE": "/a"]) == .sqlite(path: "/a"))
        #expect(try location("/b", ["TIDEMARK_DATABASE": "/a"]) == .sqlite(path: "/b"))
        let usual = try DatabaseLocation(given: nil, [:])
        #expect(usual == .sqlite(path: "./tidemark-data/tidemark.sqlite"))
    }

    private static let deploy = URL(filePath: #filePath).appending(path: "../../../../deploy").standardizedFileURL

    private func deployed(_ path: String) throws -> String {
        try String(contentsOf: Self.deploy.appending(path: path), encoding: .utf8)
    }

    @Test func `the page of settings matches the code`() throws {
        #expect(try deployed("settings.md") == SettingTable.markdown, "tidemark settings > deploy/settings.md")
    }

    @Test func `the package and the manifests set only existing settings`() throws {
        let package = try SettingsFile(Array(try deployed("package/tidemark.json").utf8), from: "tidemark.json")
        #expect(package.values["TIDEMARK_DATABASE"] == "sqlite:/var/lib/tidemark/tidemark.sqlite")
        let manifest = try deployed("kubernetes/tidemark.yaml")
        let start = try #require(manifest.range(of: "tidemark.json: |\n")).upperBound
        let end = try #require(manifest.range(of: "---", range: start..<manifest.endIndex)).lowerBound
        let mounted = try SettingsFile(Array(manifest[start..<end].utf8), from: "/etc/tidemark/tidemark.json")
        #expect(mounted.values["TIDEMARK_SECRET_FILE"] == "/run/secrets/tidemark/token_secret")
    }

    @Test func `every option and variable that deploy mentions exists`() throws {
        let variables = Set(Setting.allCases.map(\.rawValue) + LimitSetting.all.map(\.variable))
        let options = Set(Setting.allCases.compactMap(\.option))
        // Variables of the tests, and names that stand for all others.
        let others: Set = [
            "TIDEMARK_TEST_POSTGRES", "TIDEMARK_TEST_CITUS", "TIDEMARK_BINARY", "TIDEMARK_LIMIT_NAME",
            "TIDEMARK_LIMIT_", "TIDEMARK_",
            "TIDEMARK_TEST_",
        ]
        let files = FileManager.default.enumerator(at: Self.deploy, includingPropertiesForKeys: nil)
        for case let file as URL in try #require(files) {
            // A folder, or a file that is not text.
            guard let text = try? String(contentsOf: file, encoding: .utf8) else { continue }
            for match in text.matches(of: /TIDEMARK_[A-Z_]*/) {
                let name = String(match.output)
                #expect(variables.contains(name) || others.contains(name), "\(file.lastPathComponent): \(name)")
            }
            for match in text.matches(of: /tidemark serve((?: --?[a-z-]+(?: [^- \n][^ \n]*)?)+)/) {
                for word in match.output.1.split(separator: " ") where word.hasPrefix("--") && word != "--help" {
                    let isKnown = options.contains(String(word)) || word == "--limit"
                    #expect(isKnown, "\(file.lastPathComponent): \(word)")
                }
            }
        }
    }
}
