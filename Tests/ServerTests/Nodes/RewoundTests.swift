import Crypto
import Foundation
import Testing
import TidemarkEmbeddedStore
import TidemarkHub
import TidemarkLock
import TidemarkModel
import TidemarkNode
import TidemarkStore
import TidemarkWire

@testable import TidemarkAssembly

/// a client that sends past cursors learns how far the database went back, and requests single records.
@Suite(.timeLimit(.minutes(5))) struct RewoundTests {
    private static let directory = HeldScope(scope: ScopeID("directory"), since: 0)

    /// Writes as Ann, and returns the cursors that she reached, oldest first.
    private static func write(_ numbers: ClosedRange<Int64>, as ann: TestClient) async throws -> [String] {
        var cursors: [String] = []
        for number in numbers {
            try await ann.push(from: number, Sample.profile(10 + UInt64(number)))
            cursors.append(try #require(try await ann.settled(through: number).last).cursor)
        }
        return cursors
    }

    /// Ann has written 1 to 6, of which 3 are kept, and sends her past cursors.
    private static func expectTail(_ server: TestServer, _ cursors: [String]) async throws {
        let ends = Array(cursors.dropLast().reversed())
        let ann = try await TestClient.greeting(
            server, as: "ann", 1, isNew: false, counter: 9, cursor: cursors[5], scopes: [directory],
            ends: ["nobody's"] + ends)
        let welcome = try await ann.welcome()
        #expect(welcome.cursorState == .rewound && welcome.epoch == 2)
        #expect(welcome.rewind == .init(to: 3, end: cursors[2]) && welcome.cursor == cursors[2])
        #expect(welcome.kept == [directory] && welcome.purged.isEmpty && welcome.added.isEmpty)
        let frame = try await ann.changes()
        #expect(frame.from == cursors[2] && frame.records.isEmpty && frame.isConsistent)
        // 12 exists, 15 was lost, 99 never existed; the answer names only requested ids.
        try await ann.send(
            .page(
                PageRequest(
                    id: 1, scope: directory.scope, since: 0, collection: "users", limit: 50,
                    ids: [15, 12, 99].map { Sample.id($0) })))
        #expect(try await page(ann).map(\.key.id) == [Sample.id(12)])
        // A request for more ids than a page has rows is answered with the number of answered ids.
        try await ann.send(
            .page(
                PageRequest(
                    id: 2, scope: directory.scope, since: 0, collection: "users", limit: 2,
                    ids: [11, 12, 13].map { Sample.id($0) })))
        guard case .page(let some) = try await ann.next() else { throw WireError("no page") }
        #expect(some.changes.map(\.key.id) == [Sample.id(11), Sample.id(12)] && some.next == 2)

        // A client without past cursors cannot go back.
        let old = try await TestClient.greeting(
            server, as: "ann", 1, isNew: false, counter: 10, cursor: cursors[5], scopes: [directory])
        let resync = try await old.welcome()
        #expect(resync.cursorState == .resync && resync.rewind == nil)
        // So does a client with no common end, or with one that another server has sealed.
        for (counter, ends) in [(11, [cursors[4], cursors[3]]), (12, []), (13, Array(repeating: "x", count: 2_000))] {
            let lost = try await TestClient.greeting(
                server, as: "ann", 1, isNew: false, counter: Int64(counter), cursor: cursors[5],
                scopes: [directory], ends: ends)
            let welcome = try await lost.welcome()
            #expect(welcome.cursorState == .resync && welcome.added.count == 1)
        }
        // A valid cursor is not taken back, whatever past cursors are sent.
        let well = try await TestClient.greeting(
            server, as: "ann", 1, isNew: false, counter: 14, cursor: cursors[2], scopes: [directory],
            ends: [cursors[1], cursors[0]])
        #expect(try await well.welcome().cursorState == .ok)
    }

    private static func page(_ client: TestClient) async throws -> [Change] {
        guard case .page(let page) = try await client.next() else { throw WireError("no page") }
        return page.changes
    }

    @Test func `a running node sends its clients back as far as its database went`() async throws {
        let store = InMemoryStore()
        try await TestServer.running(
            over: OpenedStore(store, isShared: true), change: { $0.node.pollEvery = .milliseconds(20) }
        ) { server in
            let ann = try await TestClient.welcomed(server, as: "ann", 1)
            var cursors = try await Self.write(1...3, as: ann)
            let kept = store.snapshot
            cursors += try await Self.write(4...6, as: ann)
            store.restore(kept)
            #expect(try await ann.closeCode() == 1001)
            try await Self.expectTail(server, cursors)
        }
    }

    @Test func `so does a server that is started on an older file`() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("rewound-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let (path, older) = (folder.path + "/store.sqlite", folder.path + "/older.sqlite")
        let cursors = Lock<[String]>([])
        func serve(_ body: @Sendable (TestServer) async throws -> Void) async throws {
            let store = try EmbeddedStore(path: path)
            try await TestServer.running(over: OpenedStore(store), body)
            try store.close()
        }
        try await serve { server in
            let written = try await Self.write(1...3, as: try await TestClient.welcomed(server, as: "ann", 1))
            cursors.withLock { $0 = written }
        }
        try FileManager.default.copyItem(atPath: path, toPath: older)
        try await serve { server in
            let ann = try await TestClient.greeting(server, as: "ann", 1, isNew: false, counter: 2)
            _ = try await ann.welcome()
            let written = try await Self.write(4...6, as: ann)
            cursors.withLock { $0 += written }
        }
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.moveItem(atPath: older, toPath: path)
        try await serve { server in try await Self.expectTail(server, cursors.withLock { $0 }) }
        try FileManager.default.removeItem(at: folder)
    }

    @Test(.enabled(if: PostgresSchemaForTests.isGiven))
    func `so does one over a PostgreSQL that has lost its last commits`() async throws {
        try await PostgresSchemaForTests.with { schema in
            try await TestServer.running(
                over: try await schema.open(), change: { $0.node.pollEvery = .milliseconds(50) }
            ) { server in
                let ann = try await TestClient.welcomed(server, as: "ann", 1)
                var cursors = try await Self.write(1...3, as: ann)
                try await schema.keep()
                cursors += try await Self.write(4...6, as: ann)
                try await schema.goBack()
                #expect(try await ann.closeCode() == 1001)
                try await Self.expectTail(server, cursors)
            }
        }
    }

    /// Requests another user's records, and a scope that was left.
    @Test func `ids open no other scope`() async throws {
        try await TestServer.running { server in
            let ann = try await TestClient.welcomed(server, as: "ann", 1)
            try await ann.push(from: 1, Sample.conversation(10, of: "ann"), Sample.message(20, in: 10))
            _ = try await ann.settled(through: 2)
            let bob = try await TestClient.welcomed(server, as: "bob", 2)
            for (id, scope, collection) in [
                (1, Sample.scope(10), "messages"), (2, ScopeID("directory"), "messages"),
                (3, ScopeID("directory"), "none"),
            ] as [(Int64, ScopeID, String)] {
                try await bob.send(
                    .page(
                        PageRequest(
                            id: id, scope: scope, since: 0, collection: collection, limit: 9, ids: [Sample.id(20)])))
                switch try await bob.next() {
                case .page(let page): #expect(id == 2 && page.changes.isEmpty && page.next == nil)
                case .error(let error): #expect(id != 2 && error.code == .forbidden)
                case let other: throw TestClient.Unexpected(message: other)
                }
            }
        }
    }
}
