import Foundation
import Testing
import TidemarkModel

@testable import Tidemark

@Suite(.timeLimit(.minutes(5))) struct JoinTests {
    private let red = Room(people: ["ann"], title: "red")
    private let blue = Room(people: ["ann"], title: "blue")

    /// A store with three notes in the red room, one in the blue one, one in a room that is not in the copy.
    private func store() async throws -> SyncStore {
        let store = try SyncStore.test()
        try await store.write { t in
            t.create(red)
            t.create(blue)
            for number in 1...3 { t.create(Note(room: red.id, text: "r\(number)", likes: number)) }
            t.create(Note(room: blue.id, text: "b1", likes: 9))
            t.create(Note(room: UUID(), text: "elsewhere"))
        }
        return store
    }

    private func texts(_ rows: [Joined<Note, Room>]) -> [String] {
        rows.map { "\($0.text ?? "") \($0.joined?.title ?? "-")" }
    }

    @Test func `each record comes with the one that it refers to`() async throws {
        let list = try await store().repository(Note.self).joining(\.room, Room.self)
        let all = try await list.readAll(order: [.by(\.text)])
        #expect(texts(all) == ["b1 blue", "elsewhere -", "r1 red", "r2 red", "r3 red"])
        #expect(all.first?.model.likes == 9 && all.first?.id == all.first?.model.id)
        #expect(texts(try await list.readAll(where: \.likes > 2, order: [.by(\.text)])) == ["b1 blue", "r3 red"])
        #expect(texts(try await list.readAll(order: [.by(\.text)], in: .of(blue.id))) == ["b1 blue"])
        #expect(try await list.readAll(where: \.likes > 99).isEmpty)
    }

    @Test func `a list is narrowed by the record that is referred to`() async throws {
        let notes = try await store().repository(Note.self)
        let list = notes.joining(\.room, Room.self)
        let ofRed = try await list.readAll(where: \.likes < 3, joined: \.title == "red", order: [.by(\.text)])
        #expect(texts(ofRed) == ["r1 red", "r2 red"])
        #expect(try await list.readAll(joined: .all).count == 4)
        #expect(try await list.readAll().count == 5)
        #expect(try await notes.count(where: .refers(\.room, to: Room.self)) == 4)
        #expect(try await notes.count(where: !.refers(\.room, to: Room.self)) == 1)
        #expect(try await notes.count(where: .refers(\.room, to: Room.self, where: \.title == "blue")) == 1)
        let both: ModelFilter<Note> =
            \.likes == 3
            || .refers(\.room, to: Room.self, where: .hasPrefix(\.title, "b") && .contains(\.people, "ann"))
        #expect(try await notes.readAll(where: both, order: [.by(\.text)]).map(\.text) == ["b1", "r3"])
    }

    @Test func `pages of a join continue where the last one ended`() async throws {
        let list = try await store().repository(Note.self).joining(\.room, Room.self)
        var rows: [Joined<Note, Room>] = []
        while true {
            let page = try await list.readAll(order: [.by(\.likes, .descending)], limit: 2, after: rows.last)
            rows += page
            if page.count < 2 { break }
        }
        #expect(texts(rows) == ["b1 blue", "r3 red", "r2 red", "r1 red", "elsewhere -"])
    }

    @Test func `an observer of a join is notified of both sides`() async throws {
        let store = try await store()
        let list = store.repository(Note.self).joining(\.room, Room.self)
        var pages = list.observe(where: \.likes > 2, order: [.by(\.text)]).makeAsyncIterator()
        #expect(texts(try await pages.next() ?? []) == ["b1 blue", "r3 red"])
        try await store.repository(Room.self).update(red.id) { $0.title = "crimson" }
        #expect(texts(try await pages.next() ?? []) == ["b1 blue", "r3 crimson"])
        let fourth = Note(room: red.id, text: "r4", likes: 4)
        try await store.repository(Note.self).create(fourth)
        #expect(texts(try await pages.next() ?? []) == ["b1 blue", "r3 crimson", "r4 crimson"])
        try await store.repository(Room.self).delete(blue.id)
        #expect(texts(try await pages.next() ?? []) == ["b1 -", "r3 crimson", "r4 crimson"])
    }

    @Test func `an observer of a narrowed join sees records appear and disappear with the other side`() async throws {
        let store = try await store()
        let list = store.repository(Note.self).joining(\.room, Room.self)
        var pages = list.observe(joined: \.title == "blue").makeAsyncIterator()
        #expect(texts(try await pages.next() ?? []) == ["b1 blue"])
        // Not in the list: no notification.
        try await store.repository(Room.self).update(red.id) { $0.title = "pink" }
        try await store.repository(Room.self).update(blue.id) { $0.title = "navy" }
        #expect(try await pages.next()?.isEmpty == true)
    }

    @Test func `a snapshot joins what it sees, with other reads`() async throws {
        let store = try await store()
        let red = red
        let (rows, count) = try await store.read { snapshot in
            (
                try snapshot.readAll(
                    Note.self, joining: \.room, Room.self, where: \.likes >= 3, order: [.by(\.text)]),
                try snapshot.readAll(
                    Note.self, joining: \.room, Room.self, joined: .is(\.id, oneOf: [red.id]), limit: 2
                ).count
            )
        }
        #expect(texts(rows) == ["b1 blue", "r3 red"] && count == 2)
    }

    @Test func `a field that is no reference, or one to another collection, is named`() async throws {
        let store = try await store()
        let notes = store.repository(Note.self)
        var error = await #expect(throws: StoreError.self) { try await notes.joining(\.room, Note.self).readAll() }
        #expect(error?.message == "notes.room: refers to rooms, and not to notes")
        error = await #expect(throws: StoreError.self) { try await notes.joining(\.spare, Room.self).readAll() }
        #expect(error?.code == .unknownName && error?.message.contains("is no stored property") == true)
        error = await #expect(throws: StoreError.self) {
            try await notes.readAll(where: .refers(\.room, to: Note.self))
        }
        #expect(error?.message == "notes.room: refers to rooms, and not to notes")
        error = await #expect(throws: StoreError.self) {
            try await notes.joining(\.room, Room.self).readAll(joined: .named(.equals("colour", "red")))
        }
        #expect(error?.message == "rooms.colour: no such field in the schema")
        error = await #expect(throws: StoreError.self) {
            for try await _ in notes.joining(\.room, Note.self).observe() {}
        }
        #expect(error?.code == .unknownName)
    }

    @Test func `one record that many refer to is read once`() async throws {
        let store = try await store()
        let rows = try await store.repository(Note.self).joining(\.room, CountedRoom.self).readAll(joined: .all)
        #expect(rows.count == 4 && Set(rows.compactMap { $0.joined?.token }).count == 2)
    }

    /// Counts how often it was read.
    private struct CountedRoom: SyncModel {
        static let collection = "rooms"
        var id: UUID
        var token = UUID()
        enum CodingKeys: String, CodingKey { case id }
        init(from decoder: any Decoder) throws {
            id = try decoder.container(keyedBy: CodingKeys.self).decode(UUID.self, forKey: .id)
        }
    }
}

extension Note {
    /// A computed property, which is not stored.
    fileprivate var spare: UUID? { nil }
}
