import Foundation
import Testing
import TidemarkModel

@testable import Tidemark

/// The records that an app sees while a scope is filled.
@Suite(.timeLimit(.minutes(5))) struct FillingTests {
    private let room = RecordKey.room(1).scope

    @Test func `an app that waits for a filled scope sees it at once and whole`() async throws {
        let store = try SyncStore.test()
        let bench = Bench(database: store.database)
        try bench.join(room)
        let notes = store.repository(Note.self)
        try bench.page(room, "notes", .note(3, seq: 30), .note(2, seq: 20), next: 20)
        var early = notes.observe(in: room).makeAsyncIterator()
        #expect(try await early.next()?.count == 2, "who does not wait sees what is here")
        var filling = store.isFilling(room).makeAsyncIterator()
        #expect(try await filling.next() == true)
        async let seen = first(of: notes.observe(in: room, whenFilled: true))
        async let everywhere = first(of: notes.observe(whenFilled: true))
        try await eventually { store.database.changes.waiting >= 2 }
        try bench.page(room, "rooms", .room(1, seq: 1))
        try bench.write(1, .note(9))
        try bench.page(room, "notes", .note(1, seq: 10))
        #expect(try await filling.next() == false)
        #expect(try await seen?.count == 4)
        #expect(try await everywhere?.count == 4)
    }

    @Test func `a scope that is not held causes no wait`() async throws {
        let store = try SyncStore.test()
        let mine = Room(people: ["ann"])
        try await store.write { batch in
            batch.create(mine)
            batch.create(Note(room: mine.id, text: "offline"))
        }
        let scope = ScopeID(record: mine.id)
        let shown = try await first(of: store.repository(Note.self).observe(in: scope, whenFilled: true))
        #expect(shown?.map(\.text) == ["offline"])
        #expect(try await store.isFilling(scope).first { _ in true } == false)
    }

    private func first(of values: LiveValues<[Note]>) async throws -> [Note]? {
        for try await value in values { return value }
        return nil
    }
}
