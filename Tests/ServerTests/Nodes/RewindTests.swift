import Crypto
import Foundation
import Logging
import Testing
import TidemarkEmbeddedStore
import TidemarkHub
import TidemarkLock
import TidemarkModel
import TidemarkNIOTransport
import TidemarkNode
import TidemarkPostgres
import TidemarkStore
import TidemarkWire

@testable import TidemarkAssembly

/// A database that loses its last commits under a running server, as by a failover to a copy that lagged behind.
@Suite(.timeLimit(.minutes(5))) struct RewindTests {
    private static let directory = ScopeID("directory")

    /// Ann is settled through 2, of which 1 is kept; Bob came after that.
    private func loseCommits(
        _ server: TestServer, keep: () async throws -> Void, goBack: () async throws -> Void
    ) async throws {
        let ann = try await TestClient.welcomed(server, as: "ann", 1)
        try await ann.push(from: 1, Sample.profile(11))
        _ = try await ann.settled(through: 1)
        try await keep()
        try await ann.push(from: 2, Sample.profile(12))
        let lost = try #require(try await ann.settled(through: 2).last)
        let bob = try await TestClient.welcomed(server, as: "bob", 2)
        try await goBack()
        try await expectHealed(server, ann, bob, cursor: lost.cursor)
    }

    private func expectHealed(
        _ server: TestServer, _ ann: TestClient, _ bob: TestClient, cursor: String
    ) async throws {
        #expect(try await ann.closeCode() == 1001)
        #expect(try await bob.closeCode() == 1001)
        // A client that was registered since is unknown.
        let stranger = try await TestClient.greeting(server, as: "bob", 2, isNew: false, counter: 2)
        #expect(try await stranger.closeCode() == 4410)

        let again = try await TestClient.greeting(
            server, as: "ann", 1, isNew: false, counter: 2, cursor: cursor,
            scopes: [HeldScope(scope: Self.directory, since: 0)])
        let welcome = try await again.welcome()
        #expect(welcome.cursorState == .resync && welcome.settledThrough == 1)
        _ = try await again.changes()
        #expect(try await profiles(again) == [Sample.id(11)])
        try await again.push(from: 2, Sample.profile(13))
        // One number is the epoch's.
        #expect(welcome.epoch == 2)
        #expect(try await again.settled(through: 2).last?.records.map(\.seq) == [3])
        // The number was given again, in another history.
        let late = try await TestClient.greeting(server, as: "ann", 1, isNew: false, counter: 3, cursor: cursor)
        #expect(try await late.welcome().cursorState == .resync)
        let new = try await TestClient.welcomed(server, as: "cyd", 3)
        #expect(try await profiles(new) == [Sample.id(13), Sample.id(11)])
    }

    private func profiles(_ client: TestClient) async throws -> [UniqueID] {
        try await client.send(
            .page(PageRequest(id: 1, scope: Self.directory, since: 0, collection: "users", limit: 9)))
        while true {
            if case .page(let page) = try await client.next() { return page.changes.map(\.key.id) }
        }
    }

    @Test func `what a database has lost is sent to no client any more, and every client continues`() async throws {
        let (store, log) = (InMemoryStore(), LogCapture())
        try await TestServer.running(
            over: OpenedStore(store, isShared: true), log: log, change: { $0.node.pollEvery = .milliseconds(20) }
        ) { server in
            var kept = store.snapshot
            try await loseCommits(server) {
                kept = store.snapshot
            } goBack: {
                store.restore(kept)
            }
        }
        #expect(
            log.lines.filter { $0.hasPrefix("critical") } == [
                "critical The database went back: another epoch of a workspace's order begins "
                    + "epoch=2 first=2 lost=2 reason=head workspace=w",
                "critical The database went back: the order of a workspace is not the one that clients received "
                    + "after=2 before=2 workspace=w",
            ])
    }

    @Test func `a client that connects before the node notices is not shown lost data either`() async throws {
        let store = InMemoryStore()
        try await TestServer.running(
            over: OpenedStore(store, isShared: true), change: { $0.node.pollEvery = .seconds(3_600) }
        ) { server in
            let ann = try await TestClient.welcomed(server, as: "ann", 1)
            let kept = store.snapshot
            try await ann.push(from: 1, Sample.profile(11))
            _ = try await ann.settled(through: 1)
            store.restore(kept)
            let new = try await TestClient.greeting(server, as: "bob", 2)
            #expect([1001, 4503].contains(try await new.closeCode()))
            #expect(try await ann.closeCode() == 1001)
            let again = try await TestClient.greeting(server, as: "bob", 2, counter: 2)
            _ = try await again.welcome()
            _ = try await again.changes()
            #expect(try await profiles(again) == [])
        }
    }

    /// Covers all that a client can send, and cursors that another server has sealed.
    @Test func `no message of a client begins an epoch`() async throws {
        let store = InMemoryStore()
        try await TestServer.running(over: OpenedStore(store, isShared: true)) { server in
            let ann = try await TestClient.welcomed(server, as: "ann", 1)
            try await ann.push(from: 1, Sample.profile(11))
            let cursor = try #require(try await ann.settled(through: 1).last).cursor
            let other = Head(seq: 1_000_000, nonce: 9, time: 0, epoch: 9)
            let foreign = CursorSeal(key: SymmetricKey(size: .bits256)).cursor(other, workspace: "w")
            for (counter, cursor) in [(2, foreign), (3, String(cursor.reversed())), (4, cursor)] as [(Int64, String)] {
                let again = try await TestClient.greeting(
                    server, as: "ann", 1, isNew: false, counter: counter, cursor: cursor, acked: 1_000_000)
                #expect(try await again.welcome().epoch == 1)
            }
            _ = try await server.post("/v1/pull", as: "ann", body: #"{"cursor":"\#(foreign)","scopes":[]}"#)
            #expect(server.node.epochs.begun.isEmpty)
            #expect(try await store.lineage(of: WorkspaceID("w")).isEmpty)
        }
    }

    @Test func `of two nodes the one that notices late finds the epoch begun`() async throws {
        let store = InMemoryStore()
        let shared = OpenedStore(store, isShared: true)
        try await TestServer.running(over: shared, change: { $0.node.pollEvery = .milliseconds(20) }) { one in
            try await TestServer.running(over: shared, change: { $0.node.pollEvery = .seconds(3_600) }) { other in
                let (ann, bob) = (
                    try await TestClient.welcomed(one, as: "ann", 1), try await TestClient.welcomed(other, as: "bob", 2)
                )
                let kept = store.snapshot
                try await ann.push(from: 1, Sample.profile(11))
                let cursor = try #require(try await ann.settled(through: 1).last).cursor
                // Bob's node has delivered it, too.
                try await bob.push(from: 1, Sample.profile(12))
                _ = try await bob.settled(through: 1)
                store.restore(kept)
                #expect(try await ann.closeCode() == 1001)
                let again = try await TestClient.greeting(
                    one, as: "ann", 1, isNew: false, counter: 2, cursor: cursor, scopes: [])
                #expect(try await again.welcome().epoch == 2)
                let late = try await TestClient.greeting(other, as: "ann", 1, isNew: false, counter: 3, cursor: cursor)
                #expect([1001, 4503].contains(try await late.closeCode()))
                #expect(try await bob.closeCode() == 1001)
                #expect(try await store.lineage(of: WorkspaceID("w")).map(\.epoch) == [2])
                #expect(one.node.epochs.begun == [.head: 1] && other.node.epochs.begun.isEmpty)
            }
        }
    }

    @Test func `a waiting pull returns when the database goes back`() async throws {
        let store = InMemoryStore()
        try await TestServer.running(
            over: OpenedStore(store, isShared: true), change: { $0.node.pollEvery = .milliseconds(20) }
        ) { server in
            let ann = try await TestClient.welcomed(server, as: "ann", 1)
            let kept = store.snapshot
            try await ann.push(from: 1, Sample.profile(11))
            let cursor = try #require(try await ann.settled(through: 1).last).cursor
            async let waiting = server.post(
                "/v1/pull", as: "ann",
                body: #"{"cursor":"\#(cursor)","scopes":[["directory",0]],"wait_ms":600000}"#)
            try await eventually { server.watchers != 0 }
            store.restore(kept)
            #expect(try await waiting.text.contains(#""state":"resync""#))
        }
    }

    @Test func `a server started on an older file reports it, and its clients continue`() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("rewind-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let (path, older) = (folder.path + "/store.sqlite", folder.path + "/older.sqlite")
        func serve(_ body: @Sendable (TestServer) async throws -> Void) async throws {
            let store = try EmbeddedStore(path: path)
            try await TestServer.running(over: OpenedStore(store), body)
            try store.close()
        }
        try await serve { server in
            let ann = try await TestClient.welcomed(server, as: "ann", 1)
            try await ann.push(from: 1, Sample.profile(11))
            _ = try await ann.settled(through: 1)
        }
        try FileManager.default.copyItem(atPath: path, toPath: older)
        let cursor = Lock("")
        try await serve { server in
            let ann = try await TestClient.greeting(server, as: "ann", 1, isNew: false, counter: 2)
            _ = try await ann.welcome()
            try await ann.push(from: 2, Sample.profile(12))
            let last = try #require(try await ann.settled(through: 2).last)
            cursor.withLock { $0 = last.cursor }
        }
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.moveItem(atPath: older, toPath: path)
        try await serve { server in
            let ann = try await TestClient.greeting(
                server, as: "ann", 1, isNew: false, counter: 3, cursor: cursor.withLock { $0 })
            let welcome = try await ann.welcome()
            #expect(welcome.cursorState == .resync && welcome.settledThrough == 1)
            try await ann.push(from: 2, Sample.profile(13))
            #expect(welcome.epoch == 2 && server.node.epochs.begun == [.cursor: 1])
            #expect(try await ann.settled(through: 2).last?.settled?.outcomes.map(\.seq) == [3])
        }
        try FileManager.default.removeItem(at: folder)
    }

    @Test(.enabled(if: PostgresSchemaForTests.isGiven))
    func `a running server starts again from a PostgreSQL that has lost its last commits`() async throws {
        try await PostgresSchemaForTests.with { schema in
            try await TestServer.running(
                over: try await schema.open(), change: { $0.node.pollEvery = .milliseconds(50) }
            ) { server in
                try await loseCommits(server) {
                    try await schema.keep()
                } goBack: {
                    try await schema.goBack()
                }
            }
        }
    }
}

/// A schema of the test's own on the server that `TIDEMARK_TEST_POSTGRES` names.
struct PostgresSchemaForTests: Sendable {
    static var isGiven: Bool { given != nil }
    private static var given: String? { ProcessInfo.processInfo.environment["TIDEMARK_TEST_POSTGRES"] }
    private static let tables = ["workspace", "batch", "record", "client", "member", "listener", "ledger", "lineage"]

    let name: String
    let connectionString: String

    static func with(_ body: @Sendable (PostgresSchemaForTests) async throws -> Void) async throws {
        let name = "server_" + UUID().uuidString.lowercased().filter { $0 != "-" }
        let schema = PostgresSchemaForTests(
            name: name, connectionString: try #require(given) + " options='-c search_path=\(name)'")
        try await schema.run("CREATE SCHEMA \(name)")
        do {
            try await body(schema)
        } catch {
            try await schema.run("DROP SCHEMA \(name) CASCADE")
            throw error
        }
        try await schema.run("DROP SCHEMA \(name) CASCADE")
    }

    func run(_ sql: String) async throws {
        try await PostgresScript.run(try PostgresConfiguration(connectionString: connectionString), sql: sql)
    }

    func open() async throws -> OpenedStore {
        let configuration = try ServerConfiguration(environment: [
            "TIDEMARK_SECRET": TestServer.secret, "TIDEMARK_SCHEMA": TestServer.schemaFile,
        ])
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        return try await OpenedStore.postgres(connectionString, configuration, logger: logger)
    }

    /// Remembers what is stored.
    func keep() async throws {
        try await run(Self.tables.map { "CREATE TABLE kept_\($0) AS TABLE sync_\($0)" }.joined(separator: "; "))
    }

    /// Restores it in one transaction: later commits are lost.
    func goBack() async throws {
        let steps = Self.tables.map { "DELETE FROM sync_\($0); INSERT INTO sync_\($0) SELECT * FROM kept_\($0)" }
        try await run((["LOCK TABLE sync_workspace IN ACCESS EXCLUSIVE MODE"] + steps).joined(separator: "; "))
    }
}
