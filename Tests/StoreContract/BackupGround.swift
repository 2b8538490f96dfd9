import Foundation
import GRDB
import Testing
import TidemarkAssembly
import TidemarkLock
import TidemarkModel
import TidemarkOperations
import TidemarkPostgres
import TidemarkStore

@testable import TidemarkEmbeddedStore

/// A database that is backed up while its store is open, a folder for backups, and an empty database to restore into.
struct BackupGround: Sendable {
    let kind: StoreKind
    let under: StoreUnderTest
    let database: DatabaseLocation
    /// An empty database.
    let target: DatabaseLocation
    let folder: String
    /// Runs a statement on the database beside the store.
    let run: @Sendable (String) async throws -> Void
    /// Every table of a database with its rows, as text.
    let tables: @Sendable (DatabaseLocation) async throws -> [String: [String]]

    /// The stores that have files or a server.
    static var kinds: [StoreKind] { StoreKind.available.filter { $0 != .memory } }

    static func with(_ kind: StoreKind, _ body: (BackupGround) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tidemark-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: folder) } }
        switch kind {
        case .embedded: try await withEmbedded(folder.path, body)
        case .postgres: try await TestSchema.with { try await withPostgres($0, folder.path, body) }
        case .memory: return
        }
    }

    /// Cleans up also when the body throws.
    private static func run(
        _ ground: BackupGround, _ body: (BackupGround) async throws -> Void
    ) async throws {
        do { try await body(ground) } catch {
            try await ground.under.close()
            throw error
        }
        try await ground.under.close()
    }

    private static func withEmbedded(
        _ folder: String, _ body: (BackupGround) async throws -> Void
    ) async throws {
        let path = "\(folder)/source.sqlite"
        var options = EmbeddedStore.Options()
        // Some records are filed, some are not.
        options.filing = Filing.Bounds(recordsPerScope: 2, scopesMax: 3)
        let store = try EmbeddedStore(path: path, options: options)
        let blobs = try EmbeddedBlobStore(path: EmbeddedBlobStore.path(besides: path))
        let under = StoreUnderTest(store: store, blobs: blobs, workspace: WorkspaceID("w \\ \"1\"")) {
            try store.close()
            try blobs.close()
        }
        let ground = BackupGround(
            kind: .embedded, under: under, database: .sqlite(path: path),
            target: .sqlite(path: "\(folder)/new/target.sqlite"), folder: folder,
            run: { sql in
                let isOfBlobs = sql.contains("sync_blob")
                try DatabaseQueue(path: isOfBlobs ? EmbeddedBlobStore.path(besides: path) : path)
                    .write { try $0.execute(sql: sql) }
            },
            tables: { location in
                guard case .sqlite(let path) = location else { return [:] }
                var all: [String: [String]] = [:]
                for path in [path, EmbeddedBlobStore.path(besides: path)] {
                    try DatabaseQueue(path: path).read { db in
                        let names =
                            "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'sync\\_%' ESCAPE '\\'"
                        for table in try String.fetchAll(db, sql: names) {
                            all[table] = try Row.fetchAll(db, sql: "SELECT * FROM \(table)").map { "\($0)" }.sorted()
                        }
                    }
                }
                return all
            })
        try await run(ground, body)
    }

    private static func withPostgres(
        _ schema: TestSchema, _ folder: String, _ body: (BackupGround) async throws -> Void
    ) async throws {
        let database = "restored_" + UUID().uuidString.lowercased().filter { $0 != "-" }
        try await PostgresScript.run(schema.configuration(), sql: "CREATE DATABASE \(database)")
        let target = try schema.connectionString(keywords: ["dbname": database])
        try await PostgresScript.run(
            PostgresConfiguration(connectionString: target), sql: "CREATE SCHEMA \(schema.name)")
        let running = try await RunningPostgresStore(schema, node: StoreUnderTest.postgresNode)
        let under = StoreUnderTest(
            store: running.store, blobs: running.store, workspace: WorkspaceID("w \\ \"1\"")
        ) {
            try await running.end()
            try await PostgresScript.run(schema.configuration(), sql: "DROP DATABASE \(database) WITH (FORCE)")
        }
        let ground = BackupGround(
            kind: .postgres, under: under, database: .postgres(uri: try schema.connectionString()),
            target: .postgres(uri: target), folder: folder, run: { try await schema.sql($0) },
            tables: { location in
                guard case .postgres(let uri) = location else { return [:] }
                return try await rows(uri)
            })
        try await run(ground, body)
    }

    private static func rows(_ uri: String) async throws -> [String: [String]] {
        var configuration = try PostgresConfiguration(connectionString: uri)
        configuration.connections = 1
        let pool = try PostgresPool(configuration: configuration, logger: TestSchema.logger)
        return try await withThrowingDiscardingTaskGroup { group in
            group.addTask { try await pool.run() }
            defer { pool.shutdown() }
            return try await pool.withConnection { connection in
                func column(_ sql: String) async throws -> [String] {
                    let found = try #require(try await connection.run([.simple(sql)]).last)
                    return try (0..<found.rowCount).map { try found.text($0, 0) }
                }
                var all: [String: [String]] = [:]
                for table in try await column(
                    "SELECT tablename::text FROM pg_tables WHERE schemaname = current_schema()")
                { all[table] = try await column("SELECT t::text FROM \(table) t ORDER BY 1") }
                return all
            }
        }
    }

    /// Makes a backup as the command does, without output.
    func backup(_ name: String = "backup", verifies: Bool = true, programs: String? = nil) async throws -> Backup.Made {
        try await Backup.make(
            database, to: "\(folder)/\(name)", verifies: verifies, programs: programs, program: "test", show: { _ in })
    }

    @discardableResult
    func restore(_ name: String = "backup", into target: DatabaseLocation? = nil) async throws -> BackupManifest {
        try await Restore.run(
            "\(folder)/\(name)", into: target ?? self.target, verifies: true, programs: nil, show: { _ in })
    }

    func findings(_ name: String = "backup") async throws -> [String] {
        try await Verification.backup("\(folder)/\(name)", programs: nil, show: { _ in }).report.findings.lines
    }

    func findings(of database: DatabaseLocation) async throws -> [String] {
        try await Verification.database(database, show: { _ in }).report.findings.lines
    }

    /// Writes three scopes, deleted records, members, clients with kept outcomes, a ledger, blobs, and a scope that is
    /// erased.
    func fill() async throws {
        let client = try await under.register(.numbered(900), for: .ann)
        for round in Int64(0)..<6 {
            try await under.commit { draft in
                for number in Int64(1)...4 {
                    let id = LocalID.numbered(round * 10 + number)
                    draft.put(
                        id, in: [.a, .b, .c][Int(number % 3)],
                        body: #"{"n":\#(number),"text":"tab\tquote\" back\\slash line\n ü"}"#)
                }
                if round == 0 { draft.settle(client, through: 3, refusing: [2]) }
            }
        }
        let head = try await under.store.session(for: .ann, client: nil, in: under.workspace).head
        try await under.commit { draft in
            let seq = draft.put(.numbered(1), in: .b, born: 1, body: #"{"n":1,"text":"again"}"#)
            draft.put(.numbered(2), in: .c, born: 2, body: nil)
            draft.tamper { batch in
                batch.ledger.append(
                    LedgerEntry(
                        key: RecordKey(collection: "message", id: .numbered(1)), scope: .b, seq: seq,
                        value: OverwrittenValue(
                            field: "text", rule: .lww, old: .string("tab\t"), new: .string("again")),
                        oldAuthor: .ann, author: .bob, client: .numbered(900), app: "app 1", time: 1_000))
            }
        }
        #expect(head.seq == 24)
        try await under.commit(in: WorkspaceID("another")) { draft in
            draft.put(.numbered(1))
            draft.grant(.bob, .a)
        }
        let user = kind == .embedded ? "user" : "user_id"
        try await run(
            """
            INSERT INTO sync_member_past (workspace, \(user), scope, role, since, ended)
            VALUES ('another', 'carl', 'a', 'member', 1, 2)
            """)
        let acts = under.store
        _ = try await acts.begin(OperatorAct(.compact, by: "root", at: 1_000, argument: "tab\t", reason: "because"))
        let accounts = under.store
        var account = Account(login: "ann@example.com", user: .ann, hash: "$scrypt$ln=17,r=8,p=1$s$h", created: 1_000)
        account.reset = PasswordReset(digest: "tab\t", until: 9_000)
        #expect(try await accounts.add(account, in: under.workspace) == .added)
        #expect(
            try await accounts.beginSignIn(
                SignIn(user: .ann, client: .numbered(900), nonce: .min, began: 1_000), version: 1,
                in: under.workspace))
        for count in [0, 1, 262_145, 700_000] { try await under.put(.honest(count), in: .a) }
        try await under.put(.honest(1), in: .b)
        let erasing = under.store
        let mark = try await erasing.beginErasure(
            of: ScopeID(record: .numbered(99)), in: under.workspace, now: 1_000)
        #expect(mark == 26)
        let revocations = under.store
        _ = try await revocations.revoke(
            .client(.numbered(900), of: .ann), before: 5_000, in: under.workspace, now: 5_000)
    }
}

extension Blob {
    /// A blob as `filled` makes it, with its real digest.
    static func honest(_ count: Int) -> Blob {
        let bytes = Blob.filled(with: 7, count: count).bytes
        return Blob(digest: BlobDigest(sha256: ContentHash.hash(bytes)), bytes: bytes)
    }
}
