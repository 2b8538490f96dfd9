import Foundation
import GRDB
import Testing
import TidemarkLock
import TidemarkModel
import TidemarkStore

@testable import TidemarkEmbeddedStore

/// A file whose tables are migrated.
@Suite(.timeLimit(.minutes(5)))
struct EmbeddedGenerationTests {
    private static let own = EmbeddedSnapshot.own
    /// This version's generations and one more, with each kind of step.
    private static let next =
        EmbeddedSchema.generations + [
            Generation(
                own + 1, "names of clients",
                steps: [
                    .init("column", .tables(["ALTER TABLE sync_client ADD COLUMN label TEXT"])),
                    .init(
                        "index",
                        .index("sync_client_label", "CREATE INDEX sync_client_label ON sync_client (label)")),
                    .init("fill", .backfill(labels), isNeeded: true),
                ], contract: ["ALTER TABLE sync_client DROP COLUMN seen"])
        ]

    private static let labels = Generation.Backfill(
        table: "sync_client", start: #"["",""]"#,
        page: """
            SELECT workspace, client, json_array(workspace, client), label IS NULL
            FROM sync_client
            WHERE (workspace, client) > (json_extract(?1, '$[0]'), json_extract(?1, '$[1]'))
            ORDER BY workspace, client
            LIMIT ?2
            """,
        fill: "UPDATE sync_client SET label = user WHERE workspace = ?1 AND client = ?2 AND label IS NULL")

    private static func options(_ generations: [Generation] = next, rows: Int = 2) -> EmbeddedStore.Options {
        var options = EmbeddedStore.Options()
        options.generations = generations
        options.backfillRows = rows
        return options
    }

    /// Makes a file of this version, with clients.
    private func make(_ path: String, clients: Int = 5) throws {
        let store = try EmbeddedStore(path: path)
        try store.pool.write { db in
            for number in 0..<clients {
                try db.execute(
                    sql: """
                        INSERT INTO sync_client (workspace, client, user, settled, acked, connection, registered)
                        VALUES (?, ?, 'ann', 0, 0, 0, ?)
                        """,
                    arguments: [
                        number.isMultiple(of: 2) ? "one" : "two", "\(UniqueID.numbered(Int64(number)))", number + 1,
                    ])
            }
        }
        try store.close()
    }

    /// SQLite's description of the tables, and the recorded steps, as lines that can be compared.
    private func catalog(_ path: String) throws -> [String] {
        try DatabaseQueue(path: path).read { db in
            let tables = try String.fetchAll(
                db, sql: "SELECT name FROM sqlite_master WHERE type = 'table' AND name <> 'sqlite_stat1' ORDER BY name")
            var lines: [String] = []
            for table in tables {
                lines += try Row.fetchAll(db, sql: "SELECT * FROM pragma_table_xinfo('\(table)')").map {
                    "\(table) \($0)"
                }
                let indexes = try Row.fetchAll(
                    db, sql: "SELECT * FROM pragma_index_list('\(table)') ORDER BY name")
                for index in indexes {
                    let name: String = index["name"]
                    let columns = try Row.fetchAll(db, sql: "SELECT * FROM pragma_index_xinfo('\(name)')")
                    lines.append("\(table) \(name) \(index["unique"] as Int) \(index["origin"] as String) \(columns)")
                }
                lines += try Row.fetchAll(
                    db, sql: "SELECT wr, strict FROM pragma_table_list WHERE name = '\(table)'"
                ).map { "\(table) \($0)" }
            }
            // Names are quoted once a table was renamed.
            lines += try String.fetchAll(
                db,
                sql:
                    "SELECT sql FROM sqlite_master WHERE type IN ('trigger', 'index') AND sql IS NOT NULL ORDER BY name"
            ).map { $0.replacing("\"", with: "") }
            let checks = try String.fetchAll(
                db, sql: "SELECT name || sql FROM sqlite_master WHERE sql LIKE '%CHECK%' ORDER BY name")
            lines += checks.map { $0.drop { $0 != "C" }.filter { !$0.isWhitespace && $0 != "\"" } }
                .map { String($0.suffix(60)) }
            lines += try Row.fetchAll(db, sql: "SELECT * FROM sync_fence").map { "fence \($0)" }
            lines += try Row.fetchAll(db, sql: "SELECT step, done FROM sync_step ORDER BY step").map { "step \($0)" }
            return lines
        }
    }

    @Test func `generations are numbered without a gap`() {
        let first = EmbeddedSchema.first
        #expect(EmbeddedSchema.generations.map(\.number) == Array((first + 1)..<(Self.own + 1)))
    }

    @Test func `a new file is the same as one that was migrated through all generations`() async throws {
        let (made, grown) = (TemporaryFile(), TemporaryFile())
        try EmbeddedStore(path: grown.path, options: Self.options([])).close()
        #expect(try catalog(grown.path).contains { $0.contains("generation:\(EmbeddedSchema.first)") })
        for file in [made, grown] {
            let store = try EmbeddedStore(path: file.path, options: Self.options())
            try await store.migrate()
            try store.close()
        }
        let (new, old) = (try catalog(made.path), try catalog(grown.path))
        #expect(new.filter { !old.contains($0) } == [])
        #expect(old.filter { !new.contains($0) } == [])
        #expect(new.count > 80)
        for file in [made, grown] { try file.remove() }
    }

    @Test func `a file of a version before the first release is refused with what to do`() async throws {
        let file = TemporaryFile()
        try make(file.path)
        let queue = try DatabaseQueue(path: file.path)
        try await queue.write { try $0.execute(sql: "UPDATE sync_fence SET generation = 13, oldest = 4") }
        let error = #expect(throws: StoreError.self) { try EmbeddedStore(path: file.path) }
        #expect(error?.reason.contains("first release has made the tables (they are of generation 13") == true)
        #expect(error?.reason.contains("begin with an empty database") == true)
        // An even earlier one, and another program's.
        try await queue.write { try $0.execute(sql: "DROP TABLE sync_fence") }
        let other = #expect(throws: StoreError.self) { try EmbeddedStore(path: file.path) }
        #expect(other?.reason.contains("no tables of a release of Tidemark") == true)
        try queue.close()
        try file.remove()
    }

    @Test func `a file that was killed in any step continues, and ends like one that was not`() async throws {
        let whole = TemporaryFile()
        try make(whole.path)
        let store = try EmbeddedStore(path: whole.path, options: Self.options())
        try await store.migrate(.contract)
        try store.close()
        let expected = try catalog(whole.path)

        var kills = 0
        for events in 1..<99 {
            let (file, killed) = (TemporaryFile(), TemporaryFile())
            try make(file.path)
            // A kill leaves what is on disk at that moment, with a transaction open.
            let killer = Killer(after: events) { try Self.copyAsIs(file.path, to: killed.path) }
            let store = try EmbeddedStore(path: file.path, options: Self.options(), report: killer.hear)
            try await store.migrate(.contract, report: killer.hear)
            try store.close()
            guard FileManager.default.fileExists(atPath: killed.path) else { break }
            kills += 1
            let survivor = try EmbeddedStore(path: killed.path, options: Self.options())
            try await survivor.migrate(.contract)
            let labels = try await survivor.pool.read { db in
                try String.fetchAll(db, sql: "SELECT DISTINCT label FROM sync_client")
            }
            #expect(labels == ["ann"])
            try survivor.close()
            #expect(try catalog(killed.path) == expected, "killed at event \(events)")
            for file in [file, killed] { try file.remove() }
        }
        #expect(kills > 12)
        try whole.remove()
    }

    private static func copyAsIs(_ path: String, to target: String) throws {
        try FileManager.default.createDirectory(
            at: URL(fileURLWithPath: target).deletingLastPathComponent(), withIntermediateDirectories: true)
        for end in ["", "-wal"] where FileManager.default.fileExists(atPath: path + end) {
            try FileManager.default.copyItem(atPath: path + end, toPath: target + end)
        }
    }

    @Test func `the version before opens a migrated file, and after contracting is refused with an explanation`()
        async throws
    {
        let file = TemporaryFile()
        let older = Self.options(EmbeddedSchema.generations)
        let first = try EmbeddedStore(path: file.path, options: older)
        try await StoreUnderTest(store: first, workspace: WorkspaceID("one")).commit { $0.put(.numbered(1)) }
        try first.close()
        let newer = try EmbeddedStore(path: file.path, options: Self.options())
        try await newer.migrate()
        try newer.close()

        let again = try EmbeddedStore(path: file.path, options: older)
        let under = StoreUnderTest(store: again, workspace: WorkspaceID("one"))
        try await under.commit { $0.put(.numbered(2)) }
        _ = try await under.register(.numbered(9), for: .ann)
        try again.close()

        let last = try EmbeddedStore(path: file.path, options: Self.options())
        try await last.migrate(.contract)
        let labels = try await last.pool.read { try String?.fetchAll($0, sql: "SELECT label FROM sync_client") }
        #expect(labels == ["ann"], "what the older version wrote is filled in before anything is taken away")
        try last.close()
        let error = #expect(throws: StoreError.self) { try EmbeddedStore(path: file.path, options: older) }
        #expect(
            error?.reason.contains("serves generation \(Self.own + 1) and later, this version is of \(Self.own)")
                == true)
        try file.remove()
    }

    @Test func `a required step runs when the file is opened, and the others beside serving`() async throws {
        let file = TemporaryFile()
        try make(file.path)
        let store = try EmbeddedStore(path: file.path, options: Self.options())
        func count(_ sql: String) async throws -> Int? {
            try await store.pool.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM \(sql)") }
        }
        let index = "sqlite_master WHERE name = 'sync_client_label'"
        #expect(try await count("sync_client WHERE label = 'ann'") == 5)
        #expect(try await count(index) == 0)
        try await store.migrate()
        #expect(try await count(index) == 1)
        try store.close()
        try file.remove()
    }

    @Test func `a plan describes each step, and changes nothing`() async throws {
        let file = TemporaryFile()
        #expect(try EmbeddedStore.migrationPlan(.all, path: file.path).isEmpty)
        #expect(!FileManager.default.fileExists(atPath: file.path))
        try make(file.path)
        let lines = try EmbeddedStore.migrationPlan(.contract, path: file.path, options: Self.options())
        #expect(lines.map(\.step) == ["column", "index", "fill", "contract"].map { "\(Self.own + 1) \($0)" })
        #expect(lines.map(\.rows) == [nil, nil, 5, nil])
        let generation = try await DatabaseQueue(path: file.path).read {
            try Int.fetchOne($0, sql: "SELECT generation FROM sync_fence")
        }
        #expect(generation == Self.own)
        try file.remove()
    }
}

/// Runs an action once, after a number of migration events.
private final class Killer: Sendable {
    private let rest: Lock<Int>
    private let kill: @Sendable () throws -> Void

    init(after events: Int, _ kill: @escaping @Sendable () throws -> Void) {
        rest = Lock(events)
        self.kill = kill
    }

    func hear(_ event: MigrationEvent) {
        let isNow = rest.withLock { rest in
            rest -= 1
            return rest == 0
        }
        guard isNow else { return }
        do { try kill() } catch { Issue.record(error) }
    }
}
