import Foundation
import Testing
import Tidemark
import TidemarkTestKit

/// the server's database goes back under devices that have what it lost.
@Suite(.timeLimit(.minutes(5))) struct GoingBackTests {
    @Test func `copies become the server's again, after lost creations, changes, deletions, joins and leaves`()
        async throws
    {
        let desk = try await Desk()
        let (kit, ann, bob) = (desk.kit, desk.ann, desk.bob)
        let notes = ann.store.repository(Note.self)
        let old = (0..<6).map { Note(room: desk.room.id, text: "old \($0)", likes: 0) }
        for note in old { try await notes.create(note) }
        let left = Room(people: ["ann", "bob"])
        try await ann.store.repository(Room.self).create(left)
        try await kit.settle()
        let kept = kit.backup()

        try await notes.create(Note(room: desk.room.id, text: "lost"))
        try await notes.update(old[0].id) { $0.text = "lost too" }
        try await notes.delete(old[1].id)
        let joined = Room(people: ["ann", "bob"])
        try await ann.store.repository(Room.self).create(joined)
        try await notes.create(Note(room: joined.id, text: "in a lost room"))
        try await kit.settle()
        try await kit.faults.revoke(UserID("bob"), from: ScopeID(record: left.id))
        try await kit.settle()
        #expect(try await bob.store.repository(Room.self).count() == 2)

        // Bob has seen all that, and wrote nothing: his copy must become the server's.
        ann.goOffline()
        bob.goOffline()
        kit.faults.restoreServer(from: kept)
        bob.goOnline()
        try await kit.settle()
        try kit.expectConverged()
        let seen = try await bob.store.repository(Note.self).readAll()
        #expect(Set(seen.compactMap(\.text)) == Set(old.compactMap(\.text)))
        #expect(try await bob.store.repository(Room.self).count() == 2)
        // And again, from the present state: ann has brought her writes back.
        ann.goOnline()
        try await kit.settle()
        #expect(try await bob.store.repository(Room.self).count() == 3)
        let again = kit.backup()
        for note in old where note.id != old[1].id { try await notes.update(note.id) { $0.likes = 1 } }
        try await kit.settle()
        kit.faults.restoreServer(from: again)
        try await kit.settle()
        try kit.expectConverged()
    }
}
