import Foundation
import Logging
import NIOPosix
import Testing
import TidemarkEdge
import TidemarkEmbeddedStore
import TidemarkHub
import TidemarkIdentity
import TidemarkModel
import TidemarkNIOTransport
import TidemarkNode
import TidemarkPostgresStore
import TidemarkStore
import TidemarkWire

@testable import TidemarkAssembly

@Suite struct ConfigurationTests {
    private static let secret = String(repeating: "s", count: 32)

    private func configuration(_ environment: [String: String]) throws -> ServerConfiguration {
        try ServerConfiguration(
            environment: ["TIDEMARK_SECRET": Self.secret, "TIDEMARK_SCHEMA": TestServer.schemaFile]
                .merging(environment) { $1 })
    }

    @Test func `without anything but a secret and a schema there are defaults`() throws {
        let configuration = try configuration([:])
        #expect(configuration.database == .sqlite(path: "./tidemark-data/tidemark.sqlite"))
        #expect(configuration.listen == ListenAddress(host: "127.0.0.1", port: 8_080))
        #expect(configuration.schema?.schema.name == "chat")
        #expect(configuration.logLevel == .info)
        #expect(!configuration.isDevelopment && configuration.nodeID > 0)
        #expect(configuration.limits.wire.transactionsPerSecond == 100)
    }

    @Test func `every setting is used and the command line has priority`() throws {
        let environment = [
            "TIDEMARK_SECRET": Self.secret, "TIDEMARK_DATABASE": "postgres://u@h/n", "TIDEMARK_LISTEN": "[::]:0",
            "TIDEMARK_LOG_LEVEL": "DEBUG", "TIDEMARK_NODE": "7", "TIDEMARK_NAME": "north",
            "TIDEMARK_ORIGINS": "https://a.example, https://b.example", "TIDEMARK_LIMIT_MESSAGE_BYTES": "65536",
            "TIDEMARK_LIMIT_STRANGERS_PER_ADDRESS": "0", "TIDEMARK_TEST_POSTGRES": "ignored",
        ]
        let configuration = try ServerConfiguration(
            environment: environment,
            overrides: [.database: "sqlite:/tmp/x", .development: "true", .developmentReachable: "1"])
        #expect(configuration.database == .sqlite(path: "/tmp/x"))
        #expect(configuration.listen.description == "[::]:0" && configuration.listen.host == "::")
        #expect(configuration.logLevel == .debug && configuration.nodeID == 7 && configuration.name == "north")
        #expect(configuration.origins == ["https://a.example", "https://b.example"])
        #expect(configuration.isDevelopment)
        #expect(configuration.limits.edge.messageBytesMax == 65_536)
        #expect(configuration.limits.edge.requestBodyBytesMax == 65_536)
        #expect(configuration.limits.edge.unauthenticatedPerAddressMax == nil)
    }

    @Test func `commits are safe by age, by standbys or by a backup`() throws {
        func rule(_ text: String, _ more: [String: String] = [:]) throws -> DurableRule {
            try configuration(["TIDEMARK_DURABLE": text].merging(more) { $1 }).limits.node.durable
        }
        let postgres = ["TIDEMARK_DATABASE": "postgres://u@h/n"]
        #expect(try rule("") == .age(.seconds(86_400)))
        #expect(try rule("", ["TIDEMARK_LIMIT_DURABLE_HOURS": "3"]) == .age(.seconds(10_800)))
        #expect(try rule("age=90m") == .age(.seconds(5_400)) && rule("age=7d") == .age(.seconds(604_800)))
        #expect(try rule("age=2h", ["TIDEMARK_LIMIT_DURABLE_HOURS": "3"]) == .age(.seconds(7_200)))
        #expect(try rule("backup") == .backup && rule("replicas=2", postgres) == .replicas(2))
        #expect(throws: ConfigurationError.self) { try rule("replicas=1") }
        for text in [
            "age", "age=", "age=5", "age=0h", "age=-1h", "age=9999999999999999d", "replicas", "replicas=0",
            "replicas=x", "backup=1", "x",
        ] {
            #expect(throws: ConfigurationError.self, "\(text)") { try rule(text, postgres) }
        }
    }

    @Test func `blobs have their own bounds, and 0 bytes turn them off`() throws {
        let usual = try configuration([:]).limits
        #expect(usual.wire.blobBytesMax == 16_777_216 && usual.edge.blobBytesMax == 16_777_216)
        #expect(usual.store.blobBytesPerWorkspaceMax == 10_737_418_240)
        let moved = try configuration([
            "TIDEMARK_LIMIT_BLOB_BYTES": "1000000", "TIDEMARK_LIMIT_BLOB_QUOTA_BYTES": "5000000000",
            "TIDEMARK_LIMIT_BLOB_UPLOADS": "3",
        ]).limits
        #expect(moved.wire.blobBytesMax == 1_000_000 && moved.edge.blobBytesMax == 1_000_000)
        #expect(moved.store.blobBytesPerWorkspaceMax == 5_000_000_000 && moved.node.blobs.uploadsMax == 3)
        #expect(moved.edge.requestBodyBytesMax == 1_048_576)
        let none = try configuration(["TIDEMARK_LIMIT_BLOB_BYTES": "0"]).limits
        #expect(none.wire.blobBytesMax == nil && none.edge.blobBytesMax == nil)
    }

    @Test func `the days of the ledger are kept as milliseconds`() throws {
        #expect(try configuration([:]).limits.store.ledgerLifetime == 2_592_000_000)
        #expect(try configuration(["TIDEMARK_LIMIT_LEDGER_DAYS": "7"]).limits.store.ledgerLifetime == 604_800_000)
    }

    @Test func `a database has ten minutes for its migration, or as many as are set`() throws {
        #expect(try configuration([:]).limits.postgres.migrationTimeout == .seconds(600))
        let longer = try configuration(["TIDEMARK_LIMIT_MIGRATION_MINUTES": "90"])
        #expect(longer.limits.postgres.migrationTimeout == .seconds(5_400))
    }

    @Test func `the number of connections to the database can be set`() throws {
        let set = try configuration([
            "TIDEMARK_LIMIT_POSTGRES_WRITERS": "7", "TIDEMARK_LIMIT_POSTGRES_READERS": "9",
            "TIDEMARK_LIMIT_SQLITE_READERS": "2",
        ]).limits
        #expect(set.postgres.sequencingConnections == 7 && set.postgres.readingConnections == 9)
        #expect(set.embedded.readersMax == 2)
        #expect(throws: ConfigurationError.self) { try configuration(["TIDEMARK_LIMIT_POSTGRES_WRITERS": "0"]) }
    }

    @Test func `no more connections are accepted than the process can open`() throws {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let usual = try configuration([:])
        for (files, connections) in [(1_024, 880), (100, 1), (1_000_000, 20_000), (nil, 20_000)] {
            #expect(usual.fitting(into: files, logger: logger).limits.edge.connectionsMax == connections)
        }
    }

    @Test(arguments: [
        ("TIDEMARK_LISTEN", "8080"), ("TIDEMARK_LISTEN", ":80"), ("TIDEMARK_LISTEN", "h:x"),
        ("TIDEMARK_LISTEN", "h:65536"), ("TIDEMARK_LISTEN", "::1:80"), ("TIDEMARK_DATABASE", "sqlite:"),
        ("TIDEMARK_DATABASE", "mysql://h/n"), ("TIDEMARK_LOG_LEVEL", "loud"), ("TIDEMARK_NODE", "0"),
        ("TIDEMARK_NODE", "x"), ("TIDEMARK_DEV", "maybe"), ("TIDEMARK_SCHEMA", "/nowhere/at/all"),
        ("TIDEMARK_DATABASE", "host=/tmp/x dbname=n"), ("TIDEMARK_SECRET", "short"),
        ("TIDEMARK_SECRET_FILE", "/nowhere/at/all"), ("TIDEMARK_LIMIT_RATE", "0"),
        ("TIDEMARK_LIMIT_RATE", "many"), ("TIDEMARK_LIMIT_WORDS", "1"),
    ])
    func `a wrong setting is named`(setting: String, value: String) throws {
        let error = #expect(throws: ConfigurationError.self) { try configuration([setting: value]) }
        #expect(error?.setting == setting)
        #expect(error?.description.hasPrefix(setting + ": ") == true)
        #expect(error?.reason.contains(Self.secret) == false)
    }

    @Test func `without a secret the start is refused with what to do, except in development`() throws {
        let error = #expect(throws: ConfigurationError.self) { try ServerConfiguration(environment: [:]) }
        #expect(error?.reason.contains("--dev") == true && error?.reason.contains("/dev/urandom") == true)
        #expect(try ServerConfiguration(environment: [:], overrides: [.development: "1"]).isDevelopment)
    }

    @Test func `a byte order mark before the first line is not part of a secret`() throws {
        let plain = try ServerSecret(Array(Self.secret.utf8), from: .secretFile)
        let marked = try ServerSecret([0xef, 0xbb, 0xbf] + Array(Self.secret.utf8), from: .secretFile)
        #expect(marked.cursorKeys == plain.cursorKeys)
        let short: [UInt8] = [0xef, 0xbb, 0xbf] + [UInt8](repeating: 1, count: 31)
        #expect(throws: ConfigurationError.self) { try ServerSecret(short, from: .secretFile) }
    }

    @Test func `a star listens on every address, IPv4 and IPv6, and logs which`() async throws {
        let everywhere = try ListenAddress("*:8080")
        #expect(["[::]:8080", "0.0.0.0:8080"].contains(everywhere.description), "\(everywhere)")
        #expect(!everywhere.isLoopback)
        try await TestServer.running(environment: ["TIDEMARK_LISTEN": "*:0"]) { server in
            #expect(try await server.call("GET", "/healthz").status == 200, "127.0.0.1")
            guard everywhere.host == "::" else { return }
            let overIPv6 = try await NIOHTTPClient.request(
                method: "GET", host: "::1", port: server.port, path: "/healthz", useTLS: false, headers: [], body: [],
                group: MultiThreadedEventLoopGroup.singleton)
            #expect(overIPv6.status == 200)
        }
    }

    @Test func `a secret's file is used without the end of its line`() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("tidemark-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data((Self.secret + "\r\n").utf8).write(to: URL(fileURLWithPath: path))
        let fromFile = try ServerConfiguration(
            environment: ["TIDEMARK_SECRET_FILE": path, "TIDEMARK_SCHEMA": TestServer.schemaFile])
        let fromText = try configuration([:])
        let head = try #require(fromFile.cursors).cursor(.start, workspace: "w")
        #expect(try #require(fromText.cursors).read(head, workspace: "w") != nil)
        let secret = try #require(fromFile.secret)
        #expect("\(secret)".contains(Self.secret) == false)
    }

    @Test func `of several secrets the first seals, and what the others sealed can still be opened`() throws {
        let newer = String(repeating: "n", count: 32)
        func cursors(_ environment: [String: String]) throws -> CursorSeal {
            try #require(try configuration(environment).cursors)
        }
        let (before, after) = (try cursors([:]), try cursors(["TIDEMARK_SECRET": newer]))
        let both = try configuration(["TIDEMARK_SECRET": "\(newer)\n\(Self.secret)\n"])
        let seal = try #require(both.cursors)
        let cursor = before.cursor(.start, workspace: "w")
        #expect(seal.open(cursor, workspace: "w") == .start)
        #expect(after.open(cursor, workspace: "w") == nil)
        #expect(after.open(seal.cursor(.start, workspace: "w"), workspace: "w") == .start)
        #expect(both.secret?.previousTokens.count == 1)
    }

    @Test func `a secret that is too short is named by its line`() throws {
        let error = #expect(throws: ConfigurationError.self) {
            try configuration(["TIDEMARK_SECRET": "\(Self.secret)\nshort"])
        }
        #expect(error?.reason.contains("in line 2 has 5 bytes") == true)
    }
}
