import Foundation
import GRDB
import Testing
import TidemarkModel
import TidemarkStore

@testable import TidemarkEmbeddedStore

@Suite struct EmbeddedMigrationTests {
    @Test func `records from before scopes had numbers are found by scope, in their order`() async throws {
        let file = TemporaryFile()
        try FileManager.default.createDirectory(at: file.folder, withIntermediateDirectories: true)
        let old = try DatabasePool(path: file.path)
        try EmbeddedSchema.migrator(report: { _ in }).migrate(old, upTo: "2 conflict ledger")
        try await old.write { db in
            for (number, scope) in [(1, "a"), (2, "b"), (3, "a"), (4, "c")] {
                for workspace in ["one", "two"] {
                    try db.execute(
                        sql: """
                            INSERT INTO sync_record (
                                workspace, collection, id, scope, seq, born, deleted, author, created, updated, body)
                            VALUES (?, 'message', ?, ?, ?, ?, ?, 'ann', 1, 2, ?)
                            """,
                        arguments: [
                            workspace, "\(UniqueID.numbered(Int64(number)))", scope, number, number,
                            number == 4 ? 1 : 0, number == 4 ? nil : #"{"text":"\#(workspace) \#(number)"}"#,
                        ])
                }
            }
            try db.execute(
                sql: """
                    INSERT INTO sync_batch (workspace, seq, low, nonce, time, epoch)
                    VALUES ('one', 4, 1, 1, 1, 0), ('two', 4, 1, 1, 1, 0)
                    """)
        }
        try old.close()

        let store = try EmbeddedStore(path: file.path)
        for workspace in ["one", "two"] {
            let under = StoreUnderTest(store: store, workspace: WorkspaceID(workspace))
            let window = try await store.window(scopes: [.a, .c], after: 0, span: 9, in: under.workspace)
            #expect(window.records.map(\.seq) == [1, 3, 4])
            #expect(window.records.map(\.isDeleted) == [false, false, true])
            #expect(String(decoding: window.records[1].body, as: UTF8.self) == #"{"text":"\#(workspace) 3"}"#)
            let page = try await store.page(
                scope: .a, collection: "message", before: .max, limit: 1, in: under.workspace)
            #expect(page.records.map(\.key.id) == [.numbered(3)])
            try await under.commit { $0.put(.numbered(5), in: .b) }
            #expect(try await store.changedScopes(among: [.a, .b], after: 4, in: under.workspace) == [.b])
        }
        try store.close()
        try file.remove()
    }
}
