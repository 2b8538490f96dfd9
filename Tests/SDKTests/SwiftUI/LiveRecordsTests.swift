import Foundation
import Testing
import TidemarkModel

@testable import Tidemark

@Suite(.timeLimit(.minutes(5))) @MainActor struct LiveRecordsTests {
    private let red = UUID()
    private let blue = UUID()

    private func store() async throws -> SyncStore {
        let store = try SyncStore.test()
        try await store.write { t in
            for number in 1...3 { t.create(Note(room: red, text: "r\(number)", likes: number)) }
            t.create(Note(room: blue, text: "b1", likes: 1))
        }
        return store
    }

    @Test func `a list shows its records, and each change of them`() async throws {
        let store = try await store()
        let list = LiveRecords<Note>()
        #expect(list.records.isEmpty && !list.isLoading && list.error == nil)
        list.ask(store, where: \.room == red, order: [.by(\.text)])
        await Watching.wait { list.records.count == 3 }
        #expect(list.records.compactMap(\.text) == ["r1", "r2", "r3"] && !list.isLoading)
        try await store.repository(Note.self).create(Note(room: red, text: "r4"))
        await Watching.wait { list.records.count == 4 }
    }

    @Test func `another query replaces it, and its records stay visible until the answer is there`() async throws {
        let store = try await store()
        let list = LiveRecords<Note>()
        list.ask(store, where: \.room == red, limit: 2)
        await Watching.wait { list.records.count == 2 }
        list.ask(store, where: \.text != nil, in: .of(blue))
        #expect(list.records.count == 2)
        await Watching.wait { list.isLoading }
        #expect(list.records.count == 2)
        await Watching.wait { !list.isLoading }
        #expect(list.records.map(\.text) == ["b1"])
        // The first query is no longer observed.
        try await store.repository(Note.self).create(Note(room: red, text: "r4"))
        try await store.repository(Note.self).create(Note(room: blue, text: "b2"))
        await Watching.wait { list.records.count == 2 }
        #expect(list.records.map(\.text) == ["b1", "b2"])
    }

    @Test func `a query that does not fit the schema is an error, and a right one ends the error`() async throws {
        let store = try await store()
        let list = LiveRecords<Note>()
        list.ask(store, where: \.likes > 1)
        await Watching.wait { list.records.count == 2 }
        list.ask(store, where: .named(.equals("colour", "red")))
        await Watching.wait { list.error != nil }
        #expect((list.error as? StoreError)?.code == .unknownName && !list.isLoading && list.records.count == 2)
        list.retry()
        await Watching.wait { list.isLoading }
        #expect(list.error == nil)
        await Watching.wait { list.error != nil }
        list.ask(store, where: \.likes > 2)
        await Watching.wait { list.records.count == 1 }
        #expect(list.error == nil && !list.isLoading)
    }

    @Test func `reading ends with the list`() async throws {
        let store = try await store()
        var list: LiveRecords<Note>? = LiveRecords()
        list?.ask(store, where: .all)
        await Watching.wait { list?.records.count == 4 }
        weak let gone = list
        list = nil
        #expect(gone == nil)
    }
}
