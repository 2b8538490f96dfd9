import Foundation
import GRDB
import Testing
import TidemarkModel

@testable import Tidemark

@Suite(.timeLimit(.minutes(5))) struct ReadAndWriteTests {
    private let room = UUID()

    private func store(_ notes: Int = 3) async throws -> SyncStore {
        let store = try SyncStore.test()
        try await store.write(.inParts) { t in
            for number in 1...notes { t.create(Note(room: room, text: "n\(number)", likes: number)) }
        }
        return store
    }

    @Test func `a read decides what is written, and the closure's value is returned`() async throws {
        let store = try await store()
        let (texts, receipt) = try await store.readAndWrite { snapshot, batch in
            let notes = try snapshot.readAll(Note.self, where: \.likes > 1, order: [.by(\.text)])
            for note in notes { batch.update(note, \.done, true) }
            return notes.compactMap(\.text)
        }
        #expect(texts == ["n2", "n3"] && receipt.parts.count == 1)
        #expect(try await store.repository(Note.self).count(where: \.done == true) == 2)
        #expect(try await store.receipt(for: receipt.id) != nil)
        #expect(try store.database.pendingCount() == 2)
    }

    @Test func `a read sees the batch's earlier writes, in every way of reading`() async throws {
        let store = try await store()
        let (fourth, room) = (Note(room: room, text: "n4 tide", likes: 4), Room(id: room, people: ["ann"], title: "r"))
        try await store.readAndWrite { snapshot, batch in
            batch.create(fourth)
            batch.create(room)
            #expect(try snapshot.read(Note.self, fourth.id)?.text == "n4 tide")
            #expect(try snapshot.count(Note.self) == 4)
            #expect(try snapshot.rows("SELECT max(likes) FROM notes", as: Int.self) == [4])
            batch.update(fourth, \.likes, 40)
            #expect(try snapshot.readAll(Note.self, "WHERE likes > ?", [10]).map(\.id) == [fourth.id])
            let joined = try snapshot.readAll(Note.self, joining: \.room, Room.self, where: \.likes == 40)
            #expect(joined.first?.joined?.title == "r")
            batch.delete(fourth)
            #expect(try snapshot.read(Note.self, fourth.id) == nil)
            #expect(try snapshot.count(Note.self) == 3)
            batch.undelete(fourth)
        }
        // A counter keeps its value.
        #expect(try await store.repository(Note.self).read(fourth.id)?.likes == 40)
        #expect(try store.database.pendingCount() == 2)
    }

    @Test func `a batch of any size is written in parts, with reads in between`() async throws {
        let store = try await store()
        let room = room
        let (count, receipt) = try await store.readAndWrite(.inParts) { snapshot, batch in
            for number in 1...500 {
                batch.create(Note(room: room, text: "m\(number)"))
                if number.isMultiple(of: 50) { #expect(try snapshot.count(Note.self) == 3 + number) }
            }
            for note in try snapshot.readAll(Note.self, where: .hasPrefix(\.text, "m")) {
                batch.update(note, \.done, true)
            }
            return try snapshot.count(Note.self, where: \.done == true)
        }
        #expect(count == 500 && receipt.parts.count == 16)
        #expect(try await store.repository(Note.self).count(where: \.done == true) == 500)
        let error = await #expect(throws: StoreError.self) {
            try await store.readAndWrite { _, batch in
                for number in 1...65 { batch.create(Note(room: room, text: "k\(number)")) }
            }
        }
        #expect(error?.code == .rejected(.tooLarge))
        #expect(try await store.repository(Note.self).count() == 503)
    }

    @Test func `an error leaves nothing, also one that the closure has caught`() async throws {
        let store = try await store()
        let room = room
        await #expect(throws: CancellationError.self) {
            try await store.readAndWrite { snapshot, batch in
                batch.create(Note(room: room))
                #expect(try snapshot.count(Note.self) == 4)
                throw CancellationError()
            }
        }
        let error = await #expect(throws: StoreError.self) {
            try await store.readAndWrite { snapshot, batch in
                batch.create(Note(room: room, text: String(repeating: "x", count: 101)))
                batch.create(Note(room: room, text: "fine"))
                #expect(throws: StoreError.self) { try snapshot.count(Note.self) }
                #expect(throws: StoreError.self) { try snapshot.count(Note.self) }
            }
        }
        #expect(error?.message.contains("notes.text") == true, "\(error?.message ?? "")")
        #expect(try await store.repository(Note.self).count() == 3)
        #expect(try store.database.pendingCount() == 1)
    }

    @Test func `a closure that writes nothing leaves no transaction`() async throws {
        let store = try await store()
        let (count, receipt) = try await store.readAndWrite { snapshot, _ in try snapshot.count(Note.self) }
        #expect(count == 3 && receipt.parts.count == 1)
        #expect(try await store.receipt(for: receipt.id) == nil)
    }

    @Test func `twenty at once do not overtake each other`() async throws {
        let store = try await store()
        let room = room
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<20 {
                group.addTask {
                    try await store.readAndWrite { snapshot, batch in
                        let largest = try snapshot.rows("SELECT max(likes) FROM notes", as: Int.self).first ?? 0
                        batch.create(Note(room: room, likes: largest + 1))
                    }
                }
            }
            try await group.waitForAll()
        }
        let likes = try await store.repository(Note.self).readAll().compactMap(\.likes)
        #expect(likes.sorted() == Array(1...23))
    }

    @Test func `a snapshot that belongs to a write writes nothing itself`() async throws {
        let store = try await store()
        for sql in ["DELETE FROM notes RETURNING local_id", "COMMIT", "DROP TABLE notes"] {
            await #expect(throws: StoreError.self, "\(sql)") {
                try await store.readAndWrite { snapshot, _ in try snapshot.rows(sql) }
            }
        }
        #expect(try await store.repository(Note.self).count() == 3)
    }

    @Test func `a search in a write finds its earlier writes`() async throws {
        let text = TestSchema.text.replacing(
            #""text": {"type": "string", "max": 100}"#, with: #""text": {"type": "string", "search": true}"#)
        let store = try SyncStore.inMemory(
            account: Bench.user, schema: try TestSchema.schema(text), environment: .counting())
        let room = room
        let found = try await store.readAndWrite(.inParts) { snapshot, batch in
            for number in 1...300 { batch.create(Note(room: room, text: "tide \(number)")) }
            return try snapshot.search("tide 77", in: Note.self).count
        }
        #expect(found.value == 1)
    }
}
