import Foundation
import Testing
import Tidemark
import TidemarkTestKit

/// The delay of changes, in the kit's time and in real time.
@Suite(.timeLimit(.minutes(5))) struct ArrivalTests {
    @Test func `another device's additions, changes and deletions arrive within a second`() async throws {
        let desk = try await Desk()
        desk.kit.faults.latency(.milliseconds(200))
        let (annsNotes, bobsNotes) = (desk.ann.store.repository(Note.self), desk.bob.store.repository(Note.self))
        let note = Note(room: desk.room.id, text: "first")
        try await annsNotes.create(note)
        await desk.kit.advance(by: .seconds(1))
        #expect(try await bobsNotes.read(note.id)?.text == "first")
        try await annsNotes.update(note.id) { $0.text = "second" }
        await desk.kit.advance(by: .seconds(1))
        #expect(try await bobsNotes.read(note.id)?.text == "second")
        try await annsNotes.delete(note.id)
        await desk.kit.advance(by: .seconds(1))
        #expect(try await bobsNotes.read(note.id) == nil)
        for try await current in bobsNotes.observe(id: note.id) {
            #expect(current == nil)
            break
        }
        try desk.kit.expectConverged()
    }

    @Test func `without a network a write returns at once, and can be read`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "tidemark-kit-\(UUID())")
        // A temporary folder that remains does no harm.
        defer { try? FileManager.default.removeItem(at: folder) }
        let desk = try await Desk()
        let tablet = try await desk.kit.client("ann", at: folder)
        try await desk.kit.settle()
        tablet.goOffline()
        let start = desk.kit.clock.now
        for number in 1...200 {
            try await desk.write("\(number)", by: tablet)
            #expect(try await tablet.store.repository(Note.self).readAll().count == number)
        }
        #expect(desk.kit.clock.now == start, "no engine ran, and nothing was waited for")
        #expect(try desk.texts().isEmpty)
        tablet.goOnline()
        try await desk.kit.settle()
        #expect(try desk.texts().count == 200)
    }
}
