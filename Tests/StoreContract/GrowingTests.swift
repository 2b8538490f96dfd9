import Foundation
import GRDB
import Testing
import TidemarkAssembly
import TidemarkModel
import TidemarkOperations
import TidemarkPostgres
import TidemarkStore

@testable import TidemarkEmbeddedStore
@testable import TidemarkPostgresStore

/// Backups of one kind of store, restored into the other.
@Suite(.enabled(if: TestSchema.isGiven && !TestSchema.isSpread), .timeLimit(.minutes(10))) struct GrowingTests {
    /// Tables to which a restore itself adds rows: the beginning of a new epoch.
    private static let grown = ["sync_batch", "sync_lineage"]

    @Test(arguments: BackupGround.kinds)
    func `every row of every table goes into the other kind of store and comes back equal`(
        _ kind: StoreKind
    ) async throws {
        try await BackupGround.with(kind) { ground in
            try await ground.fill()
            try await ground.fillTheRest()
            let before = try await ground.rows(ground.database)
            for (table, rows) in before { #expect(!rows.isEmpty || table == "sync_lineage", "\(table) has no rows") }
            _ = try await ground.backup()
            try await ground.withOther { other in
                try await ground.restore(into: other)
                #expect(try await ground.findings(of: other) == [])
                let there = try await ground.rows(other)
                Self.expect(there, equal: before, restores: 1)
                _ = try await Backup.make(
                    other, to: "\(ground.folder)/again", verifies: true, programs: nil, program: "test",
                    show: { _ in })
                try await ground.restore("again")
                #expect(try await ground.findings(of: ground.target) == [])
                Self.expect(try await ground.rows(ground.target), equal: there, restores: 1)
            }
        }
    }

    private static func expect(_ after: [String: [String]], equal before: [String: [String]], restores: Int) {
        #expect(Set(after.keys) == Set(before.keys) && before.count == StoredTable.all.count)
        for (table, rows) in before {
            guard grown.contains(table) else {
                #expect(after[table] == rows, "\(table)")
                continue
            }
            // Of two workspaces.
            #expect(Set(rows).isSubset(of: after[table] ?? []), "\(table)")
            #expect(after[table]?.count == rows.count + 2 * restores, "\(table)")
        }
    }

    @Test(arguments: BackupGround.kinds)
    func `a node serves what was restored, and gives numbers behind those that were there`(
        _ kind: StoreKind
    ) async throws {
        try await BackupGround.with(kind) { ground in
            try await ground.fill()
            let (workspace, scopes) = (ground.under.workspace, [ScopeID.a, .b, .c])
            let before = try await ground.under.windows(scopes, span: 1_000).flatMap(\.records)
            let page = try await ground.under.store.page(
                scope: .a, collection: "message", before: .max, limit: 100, in: workspace)
            _ = try await ground.backup()
            try await ground.withOther { other in
                try await ground.restore(into: other)
                try await ground.withStore(other) { under in
                    #expect(try await under.windows(scopes, span: 1_000).flatMap(\.records) == before)
                    let found = try await under.store.page(
                        scope: .a, collection: "message", before: .max, limit: 100, in: workspace)
                    #expect(found.records == page.records && !page.records.isEmpty)
                    #expect(try await under.store.lineage(of: workspace).map(\.reason) == [.restore])
                    let batch = try await under.commit { $0.put(.numbered(7_000), in: .a) }
                    #expect(batch.low == 28)
                    let acts = under.store
                    let number = try await acts.begin(
                        OperatorAct(.compact, by: "root", at: 2_000, argument: "", reason: "again"))
                    #expect(number == 2)
                    let digest = Blob.honest(1).digest
                    #expect(try await under.blobs.part(of: digest, from: 0, in: .a, of: workspace) == [7])
                }
            }
        }
    }

    @Test(arguments: BackupGround.kinds)
    func `a damaged backup is refused, and nothing is in the target`(_ kind: StoreKind) async throws {
        try await BackupGround.with(kind) { ground in
            try await ground.fill()
            let made = try await ground.backup()
            let file = URL(fileURLWithPath: made.folder.file(made.folder.manifest.files[0].name))
            let whole = try Data(contentsOf: file)
            var bytes = whole
            bytes[bytes.count / 2] ^= 4
            try bytes.write(to: file)
            try await ground.withOther { other in
                let refused = try await BackupTests.refusal { try await ground.restore(into: other) }
                #expect(refused.contains("is damaged, and nothing was restored"), "\(refused)")
                try whole.write(to: file)
                try await ground.restore(into: other)
                #expect(try await ground.findings(of: other) == [])
                let full = try await BackupTests.refusal { try await ground.restore(into: other) }
                #expect(full.contains("exists already") || full.contains("has tables of Tidemark's"), "\(full)")
            }
        }
    }

    @Test func `rows that do not arrive whole leave nothing in PostgreSQL`() async throws {
        struct Cut: Error {}
        try await BackupGround.with(.embedded) { ground in
            try await ground.fill()
            let made = try await ground.backup()
            try await ground.withOther { other in
                guard case .postgres(let uri) = other else { return }
                let configuration = try PostgresConfiguration(connectionString: uri)
                let records = made.folder.file(BackupFolder.recordsName)
                await #expect(throws: Cut.self) {
                    try await PostgresLoading.run(configuration, application: "cut") { loading in
                        try EmbeddedSnapshot.with(records) { snapshot in
                            for table in StoredTable.all.prefix(4) {
                                try loading.write(table) { put in try snapshot.rows(of: table, put) }
                            }
                            throw Cut()
                        }
                    }
                }
                let look = try await PostgresRestoring.look(configuration, logger: TestSchema.logger)
                #expect(look.target == .empty)
                // Rows that were changed on their way are found before anything is committed.
                let changed = await #expect(throws: BackupError.self) {
                    try await PostgresLoading.run(configuration, application: "cut") { loading in
                        try EmbeddedSnapshot.with(records) { snapshot in
                            let sums = try RowTransfer.copy(from: snapshot, to: loading, progress: { _, _ in })
                            try loading.write(StoredTable.all[0]) { _ in }
                            try RowTransfer.compare(sums, with: loading, progress: { _, _ in })
                        }
                    }
                }
                #expect(changed?.description.contains("sync_workspace: 2 rows were read, 0 are there") == true)
                #expect(try await PostgresRestoring.look(configuration, logger: TestSchema.logger).target == .empty)
                try await ground.restore(into: other)
                #expect(try await ground.findings(of: other) == [])
            }
        }
    }

    @Test func `a restore that was cut short behind its rows goes on`() async throws {
        try await BackupGround.with(.embedded) { ground in
            try await ground.fill()
            let made = try await ground.backup()
            try await ground.withOther { other in
                guard case .postgres(let uri) = other else { return }
                let configuration = try PostgresConfiguration(connectionString: uri)
                let records = made.folder.file(BackupFolder.recordsName)
                try await PostgresLoading.run(configuration, application: "cut") { loading in
                    try EmbeddedSnapshot.with(records) {
                        _ = try RowTransfer.copy(from: $0, to: loading, progress: { _, _ in })
                    }
                }
                let look = try await PostgresRestoring.look(configuration, logger: TestSchema.logger)
                #expect(look.target == .unfinished)
                let unread = try await BackupTests.refusal { try await ground.findings(of: other) }
                #expect(unread.contains("a restore into this database is running, or was interrupted"), "\(unread)")
                try await ground.restore(into: other)
                #expect(try await ground.findings(of: other) == [])
            }
        }
    }

    @Test func `tables of an earlier generation are refused with the way to go`() async throws {
        try await BackupGround.with(.embedded) { ground in
            let folder = try await ground.backup().folder
            let own = EmbeddedSnapshot.own
            let refused = try await BackupTests.refusal {
                try Restore.checkGeneration(folder, of: .postgres, own: own + 1)
            }
            #expect(refused.contains("Restore it into SQLite first, run 'tidemark migrate'"), "\(refused)")
        }
    }

    @Test func `each table and column of both stores goes along, or is named as left out`() async throws {
        let page = try String(
            contentsOf: URL(filePath: #filePath).appending(path: "../../../Server/Operations/Rows/ROWS.md")
                .standardizedFileURL, encoding: .utf8)
        func left(_ heading: String) -> Set<String> {
            let section = page.components(separatedBy: "\n## \(heading)\n").dropFirst().first ?? ""
            let rows = (section.components(separatedBy: "\n## ").first ?? "").split(separator: "\n")
            return Set(
                rows.filter { $0.hasPrefix("| `") }.flatMap { row in
                    row.split(separator: "|")[0].split(separator: "`").map(String.init).filter { $0.contains("_") }
                })
        }
        func carried(_ name: (StoredTable.Column) -> String) -> Set<String> {
            Set(StoredTable.all.flatMap { table in table.columns.map { "\(table.name).\(name($0))" } })
        }
        func unnamed(_ columns: Set<String>, _ left: Set<String>) -> Set<String> {
            columns.filter { !left.contains($0) && !left.contains(String($0.prefix { $0 != "." })) }
        }
        let files = try Self.columnsOfFiles()
        #expect(unnamed(files, left("Left out of SQLite")) == carried(\.name))
        let server = try await Self.columnsOfServer()
        #expect(unnamed(server, left("Left out of PostgreSQL")) == carried(\.postgresName))
        // What is named is there.
        for (columns, names) in [(files, left("Left out of SQLite")), (server, left("Left out of PostgreSQL"))] {
            #expect(names.count > 5)
            for name in names { #expect(columns.contains { $0 == name || $0.hasPrefix(name + ".") }, "\(name)") }
        }
    }

    private static func columnsOfFiles() throws -> Set<String> {
        let file = TemporaryFile()
        let blobs = EmbeddedBlobStore.path(besides: file.path)
        try EmbeddedStore(path: file.path).close()
        try EmbeddedBlobStore(path: blobs).close()
        defer { #expect(throws: Never.self) { try file.remove() } }
        return Set(
            try [file.path, blobs].flatMap { path in
                try DatabaseQueue(path: path).read { db in
                    try String.fetchAll(
                        db,
                        sql: """
                            SELECT t.name || '.' || c.name
                            FROM sqlite_master t
                            JOIN pragma_table_info(t.name) c
                            WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
                            """)
                }
            })
    }

    private static func columnsOfServer() async throws -> Set<String> {
        var columns: Set<String> = []
        try await TestSchema.with { schema in
            let store = try PostgresStore(
                configuration: schema.configuration(), node: 1, options: TestSchema.options, logger: TestSchema.logger)
            try await store.migrate(.all)
            columns = Set(
                try await schema.sql(
                    """
                    SELECT table_name || '.' || column_name
                    FROM information_schema.columns
                    WHERE table_schema = current_schema()
                    """))
        }
        return columns
    }
}
