import Foundation
import Testing
import Tidemark
import TidemarkTestKit

/// One record that the cache's policy has left at the server.
@Suite(.timeLimit(.minutes(5))) struct FetchingTests {
    private let desk: Desk
    private let scope: ScopeID
    private var notes: Repository<Note> { desk.bob.store.repository(Note.self) }

    init() async throws {
        desk = try await Desk()
        scope = ScopeID(record: desk.room.id)
    }

    /// Writes ten notes, of which bob's device keeps three.
    private func evicted() async throws -> [Note] {
        for number in 1...10 { try await desk.write("\(number)", by: desk.ann) }
        try await desk.kit.settle()
        var policy = CachePolicy()
        policy.maxRows = 3
        #expect(try await desk.bob.store.evict(policy) == 7)
        return try desk.kit.rows(of: Note.self)
    }

    @Test func `a record that was evicted is fetched alone, and follows its changes`() async throws {
        let first = try #require(try await evicted().first)
        #expect(try await notes.read(first.id) == nil)
        let found = try await desk.kit.whileRunning { try await notes.fetch(first.id, in: scope) }
        #expect(found?.text == "1" && found?.syncState == .synced)
        #expect(try await notes.count() == 4)
        try await desk.ann.store.repository(Note.self).update(first.id) { $0.text = "one" }
        try await desk.kit.settle()
        #expect(try await notes.fetch(first.id, in: scope)?.text == "one")
        // The page before the present ones has no gap and no duplicate.
        try await notes.loadOlder(in: scope, count: 50)
        try await desk.kit.settle()
        #expect(try await notes.readAll().map(\.text) == ["one"] + (2...10).map { "\($0)" })
        try desk.kit.expectConverged()
    }

    @Test func `a record that the server lacks too is nil, and with a complete copy no server is asked`() async throws {
        #expect(try await notes.fetch(UUID(), in: scope) == nil)
        #expect(try await notes.fetch(UUID(), in: .of(UUID())) == nil)
        let rows = try await evicted()
        try await desk.ann.store.repository(Note.self).delete(rows[1].id)
        try await desk.kit.settle()
        for id in [UUID(), rows[1].id] {
            let found = try await desk.kit.whileRunning { try await notes.fetch(id, in: scope) }
            #expect(found == nil)
        }
        #expect(try await notes.count() == 3)
    }

    @Test func `without a connection, or an answer, it is unknown, and it arrives with the next connection`()
        async throws
    {
        let first = try #require(try await evicted().first)
        desk.kit.faults.silence(desk.bob)
        var error = await #expect(throws: StoreError.self) {
            try await desk.kit.whileRunning { try await notes.fetch(first.id, in: scope) }
        }
        #expect(error?.code == .unreachable)
        try await desk.kit.settle()
        #expect(try await notes.read(first.id)?.text == "1")
        desk.bob.goOffline(isNoticed: true)
        await desk.kit.advance(by: .seconds(1))
        error = await #expect(throws: StoreError.self) { try await notes.fetch(UUID(), in: scope) }
        #expect(error?.code == .unreachable)
    }
}
