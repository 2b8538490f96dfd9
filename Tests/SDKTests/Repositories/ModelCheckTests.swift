import Foundation
import Testing
import TidemarkModel

@testable import Tidemark

@Suite struct ModelCheckTests {
    private func complaint(_ model: any SyncModel.Type) throws -> String? {
        do {
            _ = try SyncStore.inMemory(
                account: Bench.user, schema: try TestSchema.schema(), models: [model], environment: .counting())
            return nil
        } catch let error as StoreError {
            return error.message
        }
    }

    @Test func `models that fit the schema pass`() throws {
        for model in [Room.self, Note.self, Title.self, Renamed.self, Phased.self] as [any SyncModel.Type] {
            #expect(try complaint(model) == nil)
        }
        try SyncStore.test().check(Note.self)
    }

    @Test func `a property with a name of its own is found by key path`() async throws {
        let store = try SyncStore.test()
        let note = Renamed(room: UUID(), words: "hi", likes: 2)
        try await store.repository(Renamed.self).create(note)
        let found = try await store.repository(Renamed.self).readAll(where: \.words == "hi", order: [.by(\.words)])
        #expect(found.map(\.id) == [note.id])
    }

    @Test func `a missing or wrong mapping, or two exchanged properties, are named`() throws {
        #expect(
            try complaint(Unmapped.self)
                == #"""
                Unmapped.words: is the field text of notes, and not words, so filters by key path would not find it: say static \#
                var fieldNames: [PartialKeyPath<Self>: String] { [\.words: "text"] }
                """#)
        #expect(
            try complaint(Misnamed.self)
                == #"\Misnamed.words: fieldNames has txt, and notes has no such field in the schema"#)
        #expect(
            try complaint(Swapped.self)?.hasPrefix("Swapped.likes: is the field likes of notes, and not done") == true)
    }

    @Test func `a collection, a field and a type that the schema does not have are named`() throws {
        #expect(
            try complaint(Lost.self) == "Lost: the schema has no collection papers; it has notes, people, rooms")
        #expect(
            try complaint(Extra.self) == "Extra: reads colour, and notes has no such field in the schema")
        #expect(try complaint(Mistyped.self) == "Mistyped.likes: is String, and the field is integer")
    }

    @Test func `two exchanged flags are found`() throws {
        let text = """
            {"tidemark": 1, "name": "flags", "collections": {
              "rooms": {"scope": "self", "members": "people", "fields": {
                "people": {"type": "set", "required": true, "merge": "elements"}, "a": "boolean", "b": "boolean"}}}}
            """
        let error = #expect(throws: StoreError.self) {
            try SyncStore.inMemory(account: Bench.user, schema: try TestSchema.schema(text), models: [Flags.self])
        }
        #expect(error?.message.hasPrefix("Flags.a: is the field b of rooms, and not a") == true)
    }

    @Test func `a model that cannot be constructed is examined as far as possible`() throws {
        #expect(try complaint(Closed.self) == nil)
        #expect(
            try complaint(ClosedAndLost.self)
                == "ClosedAndLost: reads colour, and notes has no such field in the schema")
    }

    struct Renamed: SyncModel {
        static let collection = "notes"
        var id = UUID()
        var room: UUID
        var words: String?
        var likes: Int?
        enum CodingKeys: String, CodingKey { case id, room, words = "text", likes }
        static var fieldNames: [PartialKeyPath<Self>: String] { [\.words: "text"] }
    }

    struct Unmapped: SyncModel {
        static let collection = "notes"
        var id = UUID()
        var words: String?
        enum CodingKeys: String, CodingKey { case id, words = "text" }
    }

    struct Misnamed: SyncModel {
        static let collection = "notes"
        var id = UUID()
        var words: String?
        enum CodingKeys: String, CodingKey { case id, words = "text" }
        static var fieldNames: [PartialKeyPath<Self>: String] { [\.words: "txt"] }
    }

    struct Swapped: SyncModel {
        static let collection = "notes"
        var id = UUID()
        var likes: Int?
        var done: Bool?
        static var fieldNames: [PartialKeyPath<Self>: String] { [\.done: "likes", \.likes: "done"] }
    }

    struct Flags: SyncModel {
        static let collection = "rooms"
        var id = UUID()
        var people: Set<String>
        var a: Bool
        var b: Bool
        enum CodingKeys: String, CodingKey { case id, people, a = "b", b = "a" }
    }

    struct Lost: SyncModel {
        static let collection = "papers"
        var id = UUID()
    }

    struct Extra: SyncModel {
        static let collection = "notes"
        var id = UUID()
        var colour: String?
    }

    struct Mistyped: SyncModel {
        static let collection = "notes"
        var id = UUID()
        var likes: String?
    }

    struct Phased: SyncModel {
        enum Phase: String, Codable, CaseIterable { case open, closed }
        static let collection = "notes"
        var id = UUID()
        var text: Phase
        var body: [Note.Block]
        var meta: Note.Meta
    }

    struct Closed: SyncModel {
        enum Phase: String, Codable { case open, closed }
        static let collection = "notes"
        var id = UUID()
        var text: Phase
        var likes: Int?
    }

    struct ClosedAndLost: SyncModel {
        static let collection = "notes"
        var id = UUID()
        var colour: Int?
        var text: Closed.Phase
    }
}
