import Foundation
import Testing
import Tidemark
import TidemarkModel
import TidemarkTestKit

/// Long outages and large queues, in virtual time.
@Suite(.timeLimit(.minutes(5))) struct StormTests {
    @Test func `1500 messages queued offline in several conversations are sent in order on return`() async throws {
        let desk = try await Desk()
        let other = Room(people: ["ann", "bob"])
        let third = Room(people: ["ann"])
        for room in [other, third] { try await desk.ann.store.repository(Room.self).create(room) }
        try await desk.kit.settle()
        desk.ann.goOffline()
        let rooms = [desk.room, other, third]
        for number in 0..<1_500 {
            let note = Note(room: rooms[number % 3].id, text: "\(number)")
            try await desk.ann.store.repository(Note.self).create(note)
        }
        try await desk.kit.settle()
        #expect(try desk.texts().isEmpty)
        desk.ann.goOnline()
        try await desk.kit.settle()
        #expect(try desk.texts() == (0..<1_500).map { "\($0)" })
        let seen = try await desk.bob.store.repository(Note.self).readAll()
        #expect(seen.count == 1_000)
        try desk.kit.expectConverged()
    }

    @Test(arguments: [Duration.seconds(30), .seconds(3_600)])
    func `after an outage all writes of both sides are on both sides`(_ length: Duration) async throws {
        let desk = try await Desk()
        desk.ann.goOffline()
        desk.bob.goOffline()
        for step in 1...10 {
            try await desk.write("ann \(step)", by: desk.ann)
            try await desk.write("bob \(step)", by: desk.bob)
            await desk.kit.advance(by: length / 10)
        }
        #expect(try desk.texts().isEmpty)
        desk.ann.goOnline()
        desk.bob.goOnline()
        let before = desk.kit.clock.now
        try await desk.kit.settle()
        #expect(before.duration(to: desk.kit.clock.now) <= .seconds(31), "at most one longest wait between attempts")
        let texts = try desk.texts().compactMap { $0 }
        for name in ["ann", "bob"] {
            #expect(texts.filter { $0.hasPrefix(name) } == (1...10).map { "\(name) \($0)" })
        }
        #expect(texts.count == 20)
        try desk.kit.expectConverged()
    }

    @Test func `a network that flaps every 50 ms for a minute loses and duplicates nothing`() async throws {
        let desk = try await Desk()
        for step in 0..<1_200 {
            if step.isMultiple(of: 2) {
                desk.ann.goOffline()
                desk.ann.store.pause()
                // The network is lost at each point of a conversation: before, between and after its messages.
                desk.kit.faults.latency(.milliseconds(2 + step % 48))
            } else {
                desk.ann.goOnline()
                desk.ann.store.resume()
            }
            if step.isMultiple(of: 6) { try await desk.write("\(step / 6)", by: desk.ann) }
            await desk.kit.advance(by: .milliseconds(50))
        }
        desk.ann.goOnline()
        desk.ann.store.resume()
        try await desk.kit.settle()
        #expect(try desk.texts() == (0..<200).map { "\($0)" })
        #expect(desk.ann.store.metrics.started > 500, "each time the network is there it is tried")
        #expect(desk.ann.store.metrics.succeeded < 500, "and often too short")
        try desk.kit.expectConverged()
    }

    @Test func `a storm of lost answers, repeated pushes and kills does not change the result`() async throws {
        let desk = try await Desk(seed: 5)
        var chance = SplitMix(seed: 5)
        for number in 0..<150 {
            switch chance.next() % 8 {
            case 0: desk.kit.faults.dropAck(after: .send, of: desk.ann)
            case 1: desk.kit.faults.dropAck(after: .commit, of: desk.ann)
            case 2: desk.kit.faults.duplicate(desk.ann)
            case 3: desk.kit.faults.kill(desk.ann, at: [.beforePush, .afterPush, .beforeApply][number % 3])
            default: break
            }
            try await desk.write("\(number)", by: desk.ann)
            try await desk.kit.settle()
            try await desk.ann.relaunch()
        }
        try await desk.kit.settle()
        #expect(try desk.texts() == (0..<150).map { "\($0)" })
        try desk.kit.expectConverged()
    }

    @Test func `200 messages in ten seconds over a link that comes and goes arrive in order`() async throws {
        let desk = try await Desk()
        desk.kit.faults.latency(.milliseconds(80))
        for number in 0..<200 {
            if number % 20 == 5 { desk.ann.goOffline() }
            if number % 20 == 12 { desk.ann.goOnline() }
            try await desk.write("\(number)", by: desk.ann)
            await desk.kit.advance(by: .milliseconds(50))
        }
        desk.ann.goOnline()
        try await desk.kit.settle()
        #expect(try desk.texts() == (0..<200).map { "\($0)" })
        try desk.kit.expectConverged()
    }

    @Test func `a poisonous write in one scope does not stop sending and receiving in others`() async throws {
        let desk = try await Desk()
        let other = Room(people: ["ann", "bob"])
        try await desk.bob.store.repository(Room.self).create(other)
        try await desk.kit.settle()
        desk.bob.goOffline()
        try await desk.kit.faults.revoke(UserID("bob"), from: ScopeID(record: desk.room.id))
        try await desk.write("nobody will take this", by: desk.bob)
        try await desk.bob.store.repository(Note.self).create(Note(room: other.id, text: "behind it"))
        try await desk.ann.store.repository(Note.self).create(Note(room: other.id, text: "to him"))
        desk.bob.goOnline()
        try await desk.kit.settle()
        #expect(Set(try desk.texts()) == ["behind it", "to him"])
        #expect(try await desk.bob.store.repository(Note.self).readAll(in: .of(other.id)).count == 2)
        #expect(try await desk.bob.store.outbox.rejected().count == 1)
    }

    @Test func `deletions, second creations and children of deleted records converge in any order`() async throws {
        for seed in UInt64(1)...20 {
            let desk = try await Desk(seed: seed)
            var chance = SplitMix(seed: seed)
            var ids: [UUID] = []
            for step in 0..<40 {
                let client = chance.next() % 2 == 0 ? desk.ann : desk.bob
                let notes = client.store.repository(Note.self)
                switch chance.next() % 6 {
                case 0: client.isOnline ? client.goOffline() : client.goOnline()
                case 1:
                    if let id = ids.randomElement(using: &chance), try await notes.read(id) != nil {
                        try await notes.delete(id)
                    }
                case 2:
                    if let id = ids.randomElement(using: &chance), try await notes.read(id) != nil {
                        try await client.store.write { batch in
                            batch.delete(Note.self, id)
                            batch.undelete(Note(id: id, room: desk.room.id, text: "again \(step)"))
                        }
                    }
                case 3:
                    if let id = ids.randomElement(using: &chance), try await notes.read(id) != nil {
                        try await notes.update(id) { $0.likes = ($0.likes ?? 0) + 1 }
                    }
                default:
                    let note = Note(room: desk.room.id, text: "\(step)")
                    ids.append(note.id)
                    try await notes.create(note)
                }
                try await desk.kit.settle()
            }
            desk.ann.goOnline()
            desk.bob.goOnline()
            try await desk.kit.settle()
            for client in [desk.ann, desk.bob] {
                for parked in try await client.store.outbox.rejected() { try await parked.discard() }
            }
            try desk.kit.expectConverged()
        }
    }
}
