import Foundation
import Testing
import Tidemark
import TidemarkTestKit

/// When a client has to start over, its writes are restored once, or parked with their payload: unsent ones, and those
/// that the server had acknowledged and lost.
@Suite(.timeLimit(.minutes(5))) struct ResetTests {
    enum Reason: CaseIterable {
        case restart
        /// The server has lost the last acknowledged writes.
        case olderBackup
        /// The server does not know the client.
        case emptyServer
        case scopeLostAndRegained
    }

    @Test(arguments: Reason.allCases)
    func `a reset with a full outbox loses no write`(_ reason: Reason) async throws {
        let kit = try TestKit(schema: try Desk.schema())
        let empty = kit.backup()
        let (ann, bob) = (try await kit.client("ann"), try await kit.client("bob"))
        let room = Room(people: ["ann", "bob"])
        let notes = ann.store.repository(Note.self)
        try await ann.store.repository(Room.self).create(room)
        let kept = Note(room: room.id, text: "kept", likes: 0)
        let doomed = Note(room: room.id, text: "doomed")
        for note in [kept, doomed] { try await notes.create(note) }
        try await kit.settle()
        let older = kit.backup()
        try await notes.create(Note(room: room.id, text: "acknowledged"))
        try await kit.settle()

        ann.goOffline()
        for number in 1...5 { try await notes.create(Note(room: room.id, text: "pending \(number)")) }
        try await notes.update(kept.id) { $0.likes = 7 }
        try await notes.delete(doomed.id)
        switch reason {
        case .restart: kit.faults.restartServer()
        case .olderBackup: kit.faults.restoreServer(from: older)
        case .emptyServer: kit.faults.restoreServer(from: empty)
        case .scopeLostAndRegained:
            try await kit.faults.revoke(UserID("ann"), from: ScopeID(record: room.id))
            try await kit.faults.grant(UserID("ann"), to: ScopeID(record: room.id))
        }
        ann.goOnline()
        try await kit.settle()

        let texts = try kit.rows(of: Note.self).compactMap(\.text)
        let parked = try await ann.store.outbox.rejected().map { $0.export() }
        for number in 1...5 {
            let times = texts.count { $0 == "pending \(number)" } + parked.count { $0.contains("pending \(number)") }
            #expect(times == 1, "pending \(number) is there \(times) times")
        }
        #expect(Set(texts).count == texts.count)
        switch reason {
        case .restart, .olderBackup:
            try expectAll(texts, parked, kept, kit)
        case .emptyServer:
            // So does the room: it was ann's.
            try expectAll(texts, parked, kept, kit)
            #expect(try kit.rows(of: Room.self).map(\.id) == [room.id])
        case .scopeLostAndRegained: break
        }
        for lost in try await ann.store.outbox.rejected() { try await lost.discard() }
        try await kit.settle()
        try kit.expectConverged()
        #expect(bob.isRunning)
    }

    private func expectAll(_ texts: [String], _ parked: [String], _ kept: Note, _ kit: TestKit) throws {
        #expect(parked.isEmpty)
        #expect(!texts.contains("doomed"))
        #expect(texts.contains("acknowledged"))
        #expect(try kit.rows(of: Note.self).first { $0.id == kept.id }?.likes == 7)
    }
}
