import Foundation
import Testing
import TidemarkModel
import TidemarkPostgres
import TidemarkStore

/// The databases that a server of the landed version left. `Tests/Fixtures/Landed/make.sh` says what is in them.
enum LandedFixture {
    static let room = id("0198f000-0000-7000-8000-000000000001")
    static let ann = id("0198f000-0000-7000-8000-0000000000a1")
    static let bob = id("0198f000-0000-7000-8000-0000000000b1")
    static let scope = ScopeID("0198f000-0000-7000-8000-000000000001")
    static let workspace = WorkspaceID("dev")

    static func message(_ number: Int) -> LocalID { id("0198f000-0000-7000-8000-000000000\(100 + number)") }

    private static func id(_ text: String) -> UniqueID { UniqueID(text) ?? .numbered(0) }

    private static var folder: URL {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Fixtures/Landed")
    }

    /// Writes a file of the fixture where a test may change it.
    static func unpack(_ name: String, to path: String) throws {
        try FileManager.default.createDirectory(
            at: URL(fileURLWithPath: path).deletingLastPathComponent(), withIntermediateDirectories: true)
        let command = "gzip --decompress --stdout '\(folder.appendingPathComponent("\(name).gz").path)' > '\(path)'"
        let gzip = try #require(popen(command, "r"))
        try #require(pclose(gzip) == 0)
    }

    /// Runs the dump in a schema of its own.
    static func load(into schema: TestSchema) async throws {
        let sql = try String(contentsOf: folder.appendingPathComponent("postgres.sql"), encoding: .utf8)
        try await PostgresScript.run(schema.configuration(), sql: sql)
    }

    /// Checks everything that `make.sh` wrote, as today's store has it; then writes more.
    static func expectAll(in store: any Store, _ blobs: any BlobStore) async throws {
        let window = try await store.window(scopes: [scope], after: 0, span: 10, in: workspace)
        #expect(window.records.map(\.seq).prefix(7) == [2, 3, 5, 6, 7, 9, 10])
        let page = try await store.page(
            scope: scope, collection: "messages", before: .max, limit: 99, in: workspace)
        #expect(page.records.map(\.key.id).suffix(5) == [6, 5, 4, 2, 1].map(message))
        let oldest = try #require(page.records.last)
        #expect(String(decoding: oldest.body, as: UTF8.self).contains(#""text":"message 1""#))
        let tombstone = window.records.first { $0.key.id == message(3) }
        #expect(tombstone?.isDeleted == true)
        let head = try await store.session(for: UserID("ann"), client: ann, in: workspace)
        #expect(head.client?.settledThrough == 10)
        #expect(head.results.map(\.number) == [8, 9, 10])
        #expect(head.results.map { $0.rejection?.code } == [nil, nil, .notFound])
        #expect(head.grants.first { $0.scope == scope } == Grant(scope: scope, since: 1, role: .owner))
        #expect(try await store.session(for: UserID("cid"), client: nil, in: workspace).grants.isEmpty)
        #expect(try await store.session(for: UserID("bob"), client: bob, in: workspace).results.map(\.number) == [1])
        let ledger = try await store.history(
            of: RecordKey(collection: "conversations", id: room), scope: scope, before: .max, limit: 9, in: workspace)
        #expect(ledger.entries.map(\.seq) == [8])
        let other = try await store.page(
            scope: ScopeID("directory"), collection: "users", before: .max, limit: 9, in: WorkspaceID("other"))
        #expect(other.records.count == 1)
        let bytes = Array((1...3_000).map { "\($0)\n" }.joined().utf8)
        let digest = try #require(
            BlobDigest(checking: "2e57c67a8bbe706a08d6638ec67da02b67b3743ae7d35948cbcf8d1f45cae0a5"))
        #expect(try await blobs.size(of: digest, in: scope, of: workspace) == bytes.count)
        #expect(try await blobs.part(of: digest, from: 0, in: scope, of: workspace) == bytes)
        #expect(try await blobs.usage(of: workspace) == BlobUsage(blobs: 1, bytes: Int64(bytes.count)))
        let clients = try await store.clients(of: UserID("ann"), in: workspace)
        #expect(clients.map(\.id) == [ann])

        let under = StoreUnderTest(store: store, workspace: workspace)
        let next = try await under.commit(time: head.head.time + 1) { $0.put(.numbered(1), in: scope) }
        #expect(next.low == head.head.seq + 1)
        let last = try await store.page(
            scope: scope, collection: "message", before: .max, limit: 1, in: workspace)
        #expect(last.records.map(\.key.id) == [.numbered(1)])
    }
}
