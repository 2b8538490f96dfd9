import Foundation
import GRDB
import Testing
import TidemarkAssembly
import TidemarkModel
import TidemarkPostgres
import TidemarkStore

@testable import TidemarkEmbeddedStore
@testable import TidemarkPostgresStore

/// What tests of the way from one kind of store to the other need besides.
extension BackupGround {
    /// A value in each column, and a row in each table, that ``fill()`` leaves empty.
    func fillTheRest() async throws {
        for sql in [
            "INSERT INTO sync_schema (number, applied, document, min_app, note) VALUES (1, 5, '{\"a\":1}', '', 'tab\t')",
            "UPDATE sync_workspace SET keep = 86400000, compacted = 7 WHERE workspace = 'another'",
            "UPDATE sync_record SET buried = '{\"by\":\"back\\\\slash\"}' WHERE body IS NULL",
            "UPDATE sync_batch SET body = 'line\nfeed, return\r and \\N' WHERE seq = 4",
            "UPDATE sync_batch SET body = '' WHERE seq = 8",
            "UPDATE sync_client SET app = '\\.', written = 3, position = -4, seen = 5",
            "UPDATE sync_erasure SET ended = 9, alias = 'erased-1'",
            "UPDATE sync_act SET outcome = ''",
            "UPDATE sync_account SET disabled = 3",
        ] { try await run(sql) }
    }

    /// Runs `body` with an empty database of the other kind.
    func withOther(_ body: (DatabaseLocation) async throws -> Void) async throws {
        guard kind == .embedded else { return try await body(.sqlite(path: "\(folder)/other/other.sqlite")) }
        try await TestSchema.with { schema in try await body(.postgres(uri: try schema.connectionString())) }
    }

    /// Runs `body` with a store on a database that was restored.
    func withStore(_ location: DatabaseLocation, _ body: (StoreUnderTest) async throws -> Void) async throws {
        switch location {
        case .sqlite(let path):
            let store = try EmbeddedStore(path: path)
            let blobs = try EmbeddedBlobStore(path: EmbeddedBlobStore.path(besides: path), beside: store)
            try await body(StoreUnderTest(store: store, blobs: blobs, workspace: under.workspace))
            try store.close()
            try blobs.close()
        case .postgres(let uri):
            let store = try PostgresStore(
                configuration: try PostgresConfiguration(connectionString: uri), node: 1, options: TestSchema.options,
                logger: TestSchema.logger)
            try await store.migrate(.needed)
            try await withThrowingDiscardingTaskGroup { group in
                group.addTask { try await store.run() }
                defer { store.shutdown() }
                try await body(StoreUnderTest(store: store, blobs: store, workspace: under.workspace))
            }
        }
    }

    /// Every row of the tables that both kinds have, as text, sorted: read by other means than those that are tested.
    func rows(_ location: DatabaseLocation) async throws -> [String: [String]] {
        switch location {
        case .sqlite(let path): try Self.rows(ofFile: path)
        case .postgres(let uri): try await Self.rows(ofServer: uri)
        }
    }

    private static func rows(ofFile path: String) throws -> [String: [String]] {
        var all: [String: [String]] = [:]
        for table in StoredTable.all {
            let columns = table.columns.map { column in
                let text = column.kind == .bytes ? "lower(hex(\(column.name)))" : "CAST(\(column.name) AS TEXT)"
                return "coalesce(\(text), '<null>')"
            }
            let file = table.isOfBlobs ? EmbeddedBlobStore.path(besides: path) : path
            all[table.name] = try DatabaseQueue(path: file).read {
                try String.fetchAll($0, sql: "SELECT \(columns.joined(separator: " || '|' || ")) FROM \(table.name)")
            }.sorted()
        }
        return all
    }

    private static func rows(ofServer uri: String) async throws -> [String: [String]] {
        var configuration = try PostgresConfiguration(connectionString: uri)
        configuration.connections = 1
        let pool = try PostgresPool(configuration: configuration, logger: TestSchema.logger)
        return try await withThrowingDiscardingTaskGroup { group in
            group.addTask { try await pool.run() }
            defer { pool.shutdown() }
            return try await pool.withConnection { connection in
                var all: [String: [String]] = [:]
                for table in StoredTable.all {
                    let columns = table.columns.map { column in
                        let name = column.postgresName
                        let text =
                            switch column.kind {
                            case .bytes: "encode(\(name), 'hex')"
                            case .boolean: "\(name)::int::text"
                            case .text, .integer: "\(name)::text"
                            }
                        return "coalesce(\(text), '<null>')"
                    }
                    let sql = "SELECT \(columns.joined(separator: " || '|' || ")) FROM \(table.name)"
                    let found = try #require(try await connection.run([.simple(sql)]).last)
                    all[table.name] = try (0..<found.rowCount).map { try found.text($0, 0) }.sorted()
                }
                return all
            }
        }
    }
}
