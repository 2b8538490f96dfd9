import Foundation
import GRDB
import Testing
import TidemarkModel
import TidemarkSQLite
import TidemarkStore

@testable import TidemarkEmbeddedStore

@Suite struct EmbeddedFileTests {
    private func withFile(_ body: (TemporaryFile) async throws -> Void) async throws {
        let file = TemporaryFile()
        try FileManager.default.createDirectory(at: file.folder, withIntermediateDirectories: true)
        do {
            try await body(file)
        } catch {
            try file.remove()
            throw error
        }
        try file.remove()
    }

    @Test func `a commit is on disk before it is answered`() async throws {
        try await withFile { file in
            let store = try EmbeddedStore(path: file.path)
            let settings = try await store.onWriter { db in
                try ["journal_mode", "synchronous", "fullfsync"].map { try String.fetchOne(db, sql: "PRAGMA \($0)") }
            }
            #expect(settings == ["wal", "2", "1"])
            try store.close()
        }
    }

    @Test(.timeLimit(.minutes(5))) func `a log that fills up is copied beside the writer and stays small`() async throws
    {
        try await withFile { file in
            var options = EmbeddedStore.Options()
            options.checkpointBytes = 64 * 1_024
            let store = try EmbeddedStore(path: file.path, options: options)
            let under = StoreUnderTest(store: store)
            let body = #"{"text":"\#(String(repeating: "x", count: 20_000))"}"#
            var last: Int64 = 0
            while store.checkpointer.rounds < 3, !Task.isCancelled {
                last += 1
                let number = last
                try await under.commit { $0.put(.numbered(number), body: body) }
            }
            let log = try FileManager.default.attributesOfItem(atPath: file.path + "-wal")[.size] as? Int64
            // The maximal length, and the batch that exceeds it.
            #expect(try #require(log) < 64 * 1_024 * Int64(Checkpointer.backstop + 2))
            try store.close()
            let again = try EmbeddedStore(path: file.path)
            let page = try await again.page(
                scope: .a, collection: "message", before: .max, limit: 1, in: under.workspace)
            #expect(page.records.map(\.key.id) == [.numbered(last)])
            try again.close()
        }
    }

    @Test func `a store that is closed twice stays closed, and its calls fail`() async throws {
        try await withFile { file in
            let store = try EmbeddedStore(path: file.path)
            try store.close()
            try store.close()
            await #expect(throws: StoreError.self) {
                try await store.register(.numbered(1), for: .ann, in: WorkspaceID("w"), now: 1)
            }
        }
    }

    @Test func `after a clean stop the file alone holds everything`() async throws {
        try await withFile { file in
            let store = try EmbeddedStore(path: file.path)
            let under = StoreUnderTest(store: store)
            let batch = try await under.commit { $0.put(.numbered(1)) }
            try store.close()
            let copy = file.folder.appendingPathComponent("copy.sqlite").path
            try FileManager.default.copyItem(atPath: file.path, toPath: copy)
            let again = try EmbeddedStore(path: copy)
            #expect(try await again.batch(holding: 1, in: under.workspace) == batch.head)
            try again.close()
        }
    }

    @Test func `everything survives a reopen`() async throws {
        try await withFile { file in
            let store = try EmbeddedStore(path: file.path)
            let under = StoreUnderTest(store: store)
            let row = try await under.register(.numbered(50), for: .ann)
            let batch = try await under.commit { draft in
                draft.put(.numbered(1), body: #"{"text":"kept"}"#)
                draft.grant(.ann, .a)
                draft.settle(row, through: 2, refusing: [2])
            }
            let session = try await store.session(for: .ann, client: row.id, in: under.workspace)
            try store.close()
            await #expect(throws: StoreError.self) { try await under.commit { $0.skip() } }

            let again = try EmbeddedStore(path: file.path)
            #expect(try await again.session(for: .ann, client: row.id, in: under.workspace) == session)
            #expect(try await again.batch(holding: 1, in: under.workspace) == batch.head)
            let window = try await again.window(scopes: [.a], after: 0, span: 9, in: under.workspace)
            #expect(window.records == batch.records)
            try again.close()
        }
    }

    @Test func `the file and its log can be read by their owner alone, in a folder that is created`() async throws {
        try await withFile { file in
            let path = file.folder.appendingPathComponent("deep/er/store.sqlite").path
            let store = try EmbeddedStore(path: path)
            try await StoreUnderTest(store: store).commit { $0.skip() }
            for suffix in ["", "-wal", ".lock"] {
                let attributes = try FileManager.default.attributesOfItem(atPath: path + suffix)
                #expect(attributes[.posixPermissions] as? Int == 0o600, "\(suffix)")
            }
            try store.close()
        }
    }

    @Test func `a second user of the file is refused until the first has closed it`() async throws {
        try await withFile { file in
            do {
                let store = try EmbeddedStore(path: file.path)
                let error = #expect(throws: StoreError.self) { try EmbeddedStore(path: file.path) }
                #expect(error?.kind == .unavailable)
                #expect(error?.reason.contains("another server uses") == true)
                try store.close()
            }
            let store = try EmbeddedStore(path: file.path)
            try store.close()
        }
    }

    @Test func `a file that is no database is refused with what to do, and left unchanged`() async throws {
        try await withFile { file in
            let bytes = Data(String(repeating: "not a database. ", count: 1_000).utf8)
            try bytes.write(to: URL(fileURLWithPath: file.path))
            let error = #expect(throws: StoreError.self) { try EmbeddedStore(path: file.path) }
            #expect(error?.kind == .unavailable)
            #expect(error?.reason.contains("restore a backup") == true)
            #expect(try Data(contentsOf: URL(fileURLWithPath: file.path)) == bytes)
        }
    }

    @Test func `a folder that cannot be created is reported`() async throws {
        try await withFile { file in
            try Data().write(to: URL(fileURLWithPath: file.path))
            let error = #expect(throws: StoreError.self) { try EmbeddedStore(path: file.path + "/store.sqlite") }
            #expect(error?.kind == .unavailable)
            #expect(error?.reason.contains("folder") == true)
        }
    }

    @Test func `a full disk refuses the batch whole and the store continues when there is space`() async throws {
        try await withFile { file in
            var options = EmbeddedStore.Options()
            options.fileBytesMax = 256 * 1024
            let store = try EmbeddedStore(path: file.path, options: options)
            let under = StoreUnderTest(store: store)
            let body = "\"" + String(repeating: "x", count: 4_000) + "\""
            var heads: [Head] = []
            let error = await #expect(throws: StoreError.self) {
                for round: Int64 in 0..<100 {
                    heads.append(
                        try await under.commit { draft in
                            for number: Int64 in 0..<5 { draft.put(.numbered(round * 5 + number), body: body) }
                        }.head)
                }
            }
            #expect(error?.kind == .unavailable)
            #expect(error?.reason.contains("full") == true)
            #expect(error?.fault == .full)
            let probe = await #expect(throws: StoreError.self) { try await store.probe() }
            #expect(probe?.fault == .full)
            #expect(heads.count > 1)
            #expect(try await under.read(ReadSet()).head == heads.last)
            let records = try await under.windows([.a], span: 10).flatMap(\.records)
            #expect(records.count == heads.count * 5)
            try store.close()

            let roomy = StoreUnderTest(store: try EmbeddedStore(path: file.path), workspace: under.workspace)
            try await roomy.store.probe()
            let next = try await roomy.commit { $0.put(.numbered(9_999)) }
            #expect(next.low == Int64(heads.count * 5 + 1))
        }
    }
}
