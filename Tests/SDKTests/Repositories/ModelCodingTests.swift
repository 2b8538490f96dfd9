import Foundation
import Testing
import TidemarkModel

@testable import Tidemark

@Suite struct ModelCodingTests {
    private let full = Note(
        id: UUID(uuidString: "018F3A2B-0000-7000-8000-000000000001") ?? UUID(),
        room: UUID(uuidString: "018F3A2B-0000-7000-8000-00000000000A") ?? UUID(), text: "é\n\"", likes: -3, best: 2.5,
        tags: ["b", "a"], seen: ["x"], done: false, due: Date(timeIntervalSince1970: 1_760_000_000.123),
        meta: .init(pages: 3, ratio: 0.5),
        body: [
            .init(
                kind: .list, lines: ["1"], link: URL(string: "https://a.example/x"), raw: Data([0, 255]),
                at: Date(timeIntervalSince1970: 5))
        ],
        weight: 1.25, file: String(repeating: "a", count: 64))

    @Test func `every type survives a round trip through the database`() async throws {
        let store = try SyncStore.test()
        let notes = store.repository(Note.self)
        try await notes.create(full)
        var expected = full
        expected.author = "ann"
        expected.syncState = .pending
        #expect(try await notes.read(full.id) == expected)
        #expect(try await notes.readAll() == [expected])
    }

    @Test func `fields are written in the forms of the wire`() throws {
        let coding = ModelCoding<Note>(collection: try #require(try TestSchema.schema().collection("notes")))
        let fields = try coding.fields(full)
        #expect(fields["room"] == "018f3a2b-0000-7000-8000-00000000000a")
        #expect(fields["due"] == 1_760_000_000_123)
        #expect(fields["tags"] == ["a", "b"])
        #expect(fields["meta"] == .object(["pages": 3, "ratio": 0.5]))
        #expect(fields["weight"] == 1.25)
        #expect(
            fields["body"]?.json
                == #"[{"at":5000,"kind":"list","lines":["1"],"link":"https://a.example/x","raw":"AP8="}]"#)
        #expect(fields["id"] == nil)
        #expect(fields["syncState"] == nil)
    }

    @Test func `a missing optional is a field that is not set`() async throws {
        let store = try SyncStore.test()
        let note = Note(room: UUID())
        try await store.repository(Note.self).create(note)
        let stored = try #require(try await store.repository(Note.self).read(note.id))
        #expect(stored.text == nil)
        #expect(stored.tags == nil)
        #expect(stored.serverID == nil)
    }

    @Test func `a value that does not decode is reported with record, field and reason`() async throws {
        struct Strict: SyncModel {
            static let collection = "notes"
            var id = UUID()
            var text: String
        }
        let store = try SyncStore.test()
        let note = Note(room: UUID())
        try await store.repository(Note.self).create(note)
        let error = await #expect(throws: StoreError.self) { try await store.repository(Strict.self).read(note.id) }
        #expect(error?.code == .coding)
        #expect(error?.message == "notes/\(UniqueID(note.id)): text is not set, and the type requires it")
    }

    @Test func `a value that no field can hold is refused when it is written`() async throws {
        let store = try SyncStore.test()
        let error = await #expect(throws: StoreError.self) {
            try await store.repository(Note.self).create(Note(room: UUID(), best: .infinity))
        }
        #expect(error?.message == "notes: best: no field can hold inf")
        #expect(try await store.repository(Note.self).readAll().isEmpty)
    }

    @Test func `ids keep their bits`() throws {
        let id = UniqueID(high: 0x0102_0304_0506_0708, low: 0xf1f2_f3f4_f5f6_f7f8)
        #expect(UUID(id).uuidString.lowercased() == id.description)
        #expect(UniqueID(UUID(id)) == id)
    }
}
