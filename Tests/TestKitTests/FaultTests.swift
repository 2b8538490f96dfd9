import Foundation
import Testing
import Tidemark
import TidemarkTestKit

@Suite(.timeLimit(.minutes(5))) struct FaultTests {
    @Test func `two devices are equal after settling, and nothing moves before`() async throws {
        let kit = try TestKit(schema: try Desk.schema())
        let ann = try await kit.client("ann")
        let bob = try await kit.client("bob")
        let room = Room(people: ["ann", "bob"])
        try await ann.store.repository(Room.self).create(room)
        try await ann.store.repository(Note.self).create(Note(room: room.id, text: "hi"))
        #expect(try kit.rows(of: Note.self).isEmpty)
        try await kit.settle()
        #expect(try kit.rows(of: Note.self).map(\.text) == ["hi"])
        #expect(try await bob.store.repository(Note.self).readAll().map(\.text) == ["hi"])
        try kit.expectConverged()
    }

    @Test(arguments: [AckLoss.send, .commit])
    func `a write whose answer is lost fifty times takes effect once`(_ loss: AckLoss) async throws {
        let desk = try await Desk()
        let note = Note(room: desk.room.id, text: "counted", likes: 0)
        try await desk.ann.store.repository(Note.self).create(note)
        try await desk.kit.settle()
        for _ in 1...50 {
            desk.kit.faults.dropAck(after: loss, of: desk.ann)
            try await desk.ann.store.repository(Note.self).update(note.id) { $0.likes = ($0.likes ?? 0) + 1 }
            try await desk.kit.settle()
        }
        #expect(try desk.kit.rows(of: Note.self).map(\.likes) == [50])
        try desk.kit.expectConverged()
    }

    @Test func `a silent connection is noticed with something to send and without`() async throws {
        let desk = try await Desk()
        desk.kit.faults.silence(desk.ann)
        desk.kit.faults.silence(desk.bob)
        try await desk.write("into the void", by: desk.ann)
        try await desk.kit.settle()
        #expect(try desk.texts() == ["into the void"])
        #expect(try await desk.bob.store.repository(Note.self).readAll().map(\.text) == ["into the void"])
        try desk.kit.expectConverged()
    }

    @Test func `a refused token keeps a device out until it is accepted, and writes are sent then`()
        async throws
    {
        let desk = try await Desk()
        desk.kit.faults.refuseToken(of: desk.ann)
        desk.ann.goOffline()
        try await desk.write("waits", by: desk.ann)
        desk.ann.goOnline()
        await desk.kit.advance(by: .seconds(60))
        #expect(try desk.texts().isEmpty)
        #expect(desk.ann.store.currentStatus.failure?.code == .unauthenticated)
        desk.kit.faults.refuseToken(of: desk.ann, false)
        try await desk.kit.settle()
        #expect(try desk.texts() == ["waits"])
    }

    @Test func `a push that arrives twice takes effect once`() async throws {
        let desk = try await Desk()
        let note = Note(room: desk.room.id, text: "counted", likes: 0)
        try await desk.ann.store.repository(Note.self).create(note)
        desk.kit.faults.duplicate(desk.ann, times: 21)
        for _ in 1...20 {
            try await desk.kit.settle()
            try await desk.ann.store.repository(Note.self).update(note.id) { $0.likes = ($0.likes ?? 0) + 1 }
        }
        try await desk.kit.settle()
        #expect(try desk.kit.rows(of: Note.self).map(\.likes) == [20])
        try desk.kit.expectConverged()
    }

    @Test(arguments: [KillPoint.beforePush, .afterPush, .beforeApply])
    func `a process that ends at any point of a push has sent it once after its next start`(
        _ point: KillPoint
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "tidemark-kit-\(UUID())")
        // A temporary folder that remains does no harm.
        defer { try? FileManager.default.removeItem(at: folder) }
        let desk = try await Desk()
        let tablet = try await desk.kit.client("ann", at: folder)
        try await desk.kit.settle()
        for number in 1...10 {
            desk.kit.faults.kill(tablet, at: point)
            let receipt = try await desk.write("\(number)", by: tablet)
            try await desk.kit.settle()
            #expect(!tablet.isRunning)
            #expect(try desk.texts().count == (point == .beforePush ? number - 1 : number))
            try await tablet.relaunch()
            try await desk.kit.settle()
            let found = try #require(try await tablet.store.receipt(for: receipt.id))
            guard case .committed? = try await found.steps.first(where: { _ in true }) else {
                Issue.record("\(number) is not told as committed")
                return
            }
        }
        #expect(try desk.texts() == (1...10).map { "\($0)" })
        try desk.kit.expectConverged()
    }

    @Test func `a device whose clock is wrong by days syncs as any other`() async throws {
        let desk = try await Desk()
        desk.kit.faults.clockSkew(desk.ann, by: .seconds(86_400 * 3))
        desk.kit.faults.clockSkew(desk.bob, by: .seconds(-86_400 * 3))
        try await desk.write("from the future", by: desk.ann)
        try await desk.kit.settle()
        try await desk.write("from the past", by: desk.bob)
        try await desk.kit.settle()
        #expect(try desk.texts() == ["from the future", "from the past"])
        try desk.kit.expectConverged()
    }

    @Test func `a full disk refuses writes, allows reads, and continues when there is space`() async throws {
        let desk = try await Desk()
        try await desk.write("before", by: desk.bob)
        try await desk.kit.settle()
        desk.kit.faults.diskFull(desk.bob)
        await #expect(throws: (any Error).self) { try await desk.write("refused", by: desk.bob) }
        try await desk.write("meanwhile", by: desk.ann)
        try await desk.kit.settle()
        #expect(try await desk.bob.store.repository(Note.self).readAll().map(\.text) == ["before"])
        desk.kit.faults.diskFull(desk.bob, false)
        try await desk.kit.settle()
        #expect(try await desk.bob.store.repository(Note.self).readAll().map(\.text) == ["before", "meanwhile"])
        #expect(try desk.texts() == ["before", "meanwhile"])
        try desk.kit.expectConverged()
    }

    @Test func `access that is revoked while offline parks pending writes, with their payload`() async throws {
        let desk = try await Desk()
        desk.bob.goOffline()
        try await desk.write("written too late", by: desk.bob)
        try await desk.kit.faults.revoke(UserID("bob"), from: ScopeID(record: desk.room.id))
        desk.bob.goOnline()
        try await desk.kit.settle()
        let parked = try await desk.bob.store.outbox.rejected()
        #expect(parked.count == 1)
        #expect(parked.first?.export().contains("written too late") == true)
        #expect(try await desk.bob.store.repository(Note.self).readAll().isEmpty)
        #expect(try desk.texts().isEmpty)
        try await desk.kit.faults.grant(UserID("bob"), to: ScopeID(record: desk.room.id))
        try await desk.bob.store.outbox.rejected().first?.retry()
        try await desk.kit.settle()
        #expect(try desk.texts() == ["written too late"])
        try desk.kit.expectConverged()
    }

    @Test func `the same seed takes the same course`() async throws {
        var courses: [[String]] = []
        for _ in 1...2 {
            let desk = try await Desk(seed: 11)
            desk.kit.faults.dropAck(after: .commit, of: desk.ann, times: 3)
            desk.kit.faults.latency(.milliseconds(40))
            for number in 1...5 {
                try await desk.write("\(number)", by: number.isMultiple(of: 2) ? desk.ann : desk.bob)
            }
            try await desk.kit.settle()
            let times = "\(desk.kit.clock.now.offset)"
            courses.append(try desk.kit.rows(of: Note.self).map { "\($0.text ?? "") \($0.serverID ?? 0)" } + [times])
        }
        #expect(courses.first == courses.last)
    }

    @Test func `a client that cannot settle is named, and so is a difference`() async throws {
        var limits = TestKitLimits()
        limits.maxSettle = .seconds(30)
        let kit = try TestKit(schema: try Desk.schema(), limits: limits)
        let ann = try await kit.client("ann")
        kit.faults.latency(.seconds(3_600))
        let error = await #expect(throws: TestKitError.self) { try await kit.settle() }
        #expect(error?.code == .notSettled && error?.description.contains("ann #0") == true)
        kit.faults.latency(.zero)
        await kit.advance(by: .seconds(7_200))
        try await kit.settle()
        try await ann.store.repository(Room.self).create(Room(people: ["ann"]))
        let difference = #expect(throws: TestKitError.self) { try kit.expectConverged() }
        #expect(difference?.code == .diverged && difference?.description.contains("rooms/") == true)
    }

    @Test func `an app's own wait for a round ends while the kit runs`() async throws {
        let desk = try await Desk()
        try await desk.write("waited for", by: desk.ann)
        let status = try await desk.kit.whileRunning { try await desk.ann.store.syncNow() }
        #expect(status.connection == .live)
        #expect(try desk.texts() == ["waited for"])
    }
}
