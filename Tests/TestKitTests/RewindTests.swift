import Foundation
import Testing
import Tidemark
import TidemarkTestKit

/// The server goes back to a backup, and devices bring back the writes that were acknowledged since.
@Suite(.timeLimit(.minutes(5))) struct RewindTests {
    private func note(_ id: UUID, _ desk: Desk) throws -> Note? {
        try desk.kit.rows(of: Note.self).first { $0.id == id }
    }

    @Test func `an increment that was acknowledged after the backup takes effect once`() async throws {
        let desk = try await Desk()
        let notes = desk.ann.store.repository(Note.self)
        let note = Note(room: desk.room.id, text: "old", likes: 1)
        try await notes.create(note)
        try await desk.kit.settle()
        let backup = desk.kit.backup()
        let liked = try await notes.update(note.id) { $0.likes = 4 }
        try await desk.kit.settle()
        #expect(try self.note(note.id, desk)?.likes == 4)

        desk.ann.goOffline()
        try await notes.update(note.id) { $0.likes = 14 }
        desk.kit.faults.restoreServer(from: backup)
        desk.ann.goOnline()
        try await desk.kit.settle()
        #expect(try self.note(note.id, desk)?.likes == 14)
        #expect(desk.ann.store.metrics.resent == 1 && desk.ann.store.metrics.rewinds == 1)
        guard case .committed? = try await liked.steps.first(where: { _ in true }) else {
            Issue.record("it is not committed again")
            return
        }
        try desk.kit.expectConverged()
        // Back once more, to the same backup.
        desk.kit.faults.restoreServer(from: backup)
        try await desk.kit.settle()
        #expect(try self.note(note.id, desk)?.likes == 14)
        try desk.kit.expectConverged()
    }

    @Test func `an edit of another's lost record waits for its creator, with the data to decide on`()
        async throws
    {
        let desk = try await Desk()
        let backup = desk.kit.backup()
        let note = Note(room: desk.room.id, text: "bob's")
        try await desk.bob.store.repository(Note.self).create(note)
        try await desk.kit.settle()
        try await desk.ann.store.repository(Note.self).update(note.id) { $0.likes = 5 }
        try await desk.kit.settle()

        desk.bob.goOffline()
        desk.kit.faults.restoreServer(from: backup)
        try await desk.kit.settle()
        #expect(try self.note(note.id, desk) == nil)
        let parked = try #require(try await desk.ann.store.outbox.rejected().first)
        #expect(parked.rejection.code == .notFound)

        desk.bob.goOnline()
        try await desk.kit.settle()
        #expect(try self.note(note.id, desk)?.likes == 5)
        #expect(try await desk.ann.store.outbox.rejected().isEmpty)
        try desk.kit.expectConverged()
    }

    @Test func `a room that was opened after the backup is restored, with all users' notes in it`() async throws {
        let desk = try await Desk()
        let backup = desk.kit.backup()
        let room = Room(people: ["ann", "bob"], title: "late")
        try await desk.ann.store.repository(Room.self).create(room)
        try await desk.kit.settle()
        for (client, text) in [(desk.ann, "ann's"), (desk.bob, "bob's")] {
            try await client.store.repository(Note.self).create(Note(room: room.id, text: text))
        }
        try await desk.kit.settle()

        desk.ann.goOffline()
        try await desk.ann.store.repository(Note.self).create(Note(room: room.id, text: "pending"))
        desk.kit.faults.restoreServer(from: backup)
        try await desk.kit.settle()
        #expect(try await desk.bob.store.outbox.rejected().count == 1)
        desk.ann.goOnline()
        try await desk.kit.settle()
        #expect(try Set(desk.texts()) == ["ann's", "bob's", "pending"] && desk.texts().count == 3)
        for client in [desk.ann, desk.bob] { #expect(try await client.store.outbox.rejected().isEmpty) }
        try desk.kit.expectConverged()
    }

    @Test func `other devices keep a device's writes, which are restored when the device returns`() async throws {
        let desk = try await Desk()
        let backup = desk.kit.backup()
        try await desk.write("lost", by: desk.bob)
        try await desk.kit.settle()
        desk.bob.goOffline()
        desk.kit.faults.restoreServer(from: backup)
        try await desk.kit.settle()
        let rescued = try await desk.ann.store.lostRecords()
        #expect(rescued.map(\.collection) == ["notes"] && rescued.first?.author == "bob")
        #expect(rescued.first?.body.contains("lost") == true)
        #expect(rescued.map(\.isBack) == [false])
        desk.bob.goOnline()
        try await desk.kit.settle()
        #expect(try await desk.ann.store.lostRecords().map(\.isBack) == [true])
        try await desk.ann.store.discardLostRecords()
        #expect(try await desk.ann.store.lostRecords().isEmpty)
    }
}
