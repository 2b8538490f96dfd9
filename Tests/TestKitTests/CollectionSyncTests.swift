import Foundation
import Testing
import Tidemark
import TidemarkTestKit

/// One collection alone, and alerts, on the real engine in virtual time.
@Suite(.timeLimit(.minutes(5))) struct CollectionSyncTests {
    @Test func `a collection that is synced alone is whole, its writes are sent, and its status says so`()
        async throws
    {
        let desk = try await Desk()
        for number in 1...450 { try await desk.write("\(number)", by: desk.ann) }
        try await desk.kit.settle()
        let tablet = try await desk.kit.client("bob")
        let notes = tablet.store.repository(Note.self)
        let before = try await notes.status.first { _ in true }
        #expect(before?.filled.total == 0 && before?.lastSync == nil)
        let own = Room(people: ["bob"])
        try await tablet.store.write { batch in
            batch.create(own)
            batch.create(Note(room: own.id, text: "mine"))
        }
        let status = try await desk.kit.whileRunning { try await notes.syncNow() }
        #expect(status.pending == 0 && status.stalled == 0)
        #expect(status.filled.fraction == 1 && status.lastSync != nil)
        #expect(try await notes.readAll().count == 451)
        #expect(try desk.texts().last == "mine")
    }

    @Test func `without a network it returns at once with the known state, and so does the next launch`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "tidemark-kit-\(UUID())")
        // A temporary folder that remains does no harm.
        defer { try? FileManager.default.removeItem(at: folder) }
        let desk = try await Desk()
        let tablet = try await desk.kit.client("ann", at: folder)
        try await desk.write("a", by: desk.ann)
        try await desk.kit.settle()
        let synced = try await tablet.store.status(of: "notes").first { _ in true }?.lastSync
        #expect(synced != nil)
        tablet.goOffline()
        await desk.kit.advance(by: .seconds(60))
        try await desk.write("b", by: tablet)
        let offline = try await desk.kit.whileRunning { try await tablet.store.syncNow("notes") }
        #expect(offline.pending == 1 && offline.lastSync == synced)
        try await tablet.kill()
        try await tablet.relaunch()
        #expect(tablet.store.currentStatus.lastSync == synced)
        #expect(try await tablet.store.status(of: "notes").first { _ in true }?.lastSync == synced)
        await #expect(throws: StoreError.self) { try await tablet.store.syncNow("ghosts") }
        #expect(throws: StoreError.self) { try tablet.store.status(of: "ghosts") }
    }

    @Test func `a write that waits longer than the limit raises one alert, and another one after that`() async throws {
        let desk = try await Desk()
        desk.ann.store.alerts.pendingAge = .seconds(600)
        var alerts = desk.ann.store.events.filter(\.isAlert).makeAsyncIterator()
        for round in 1...2 {
            desk.ann.goOffline()
            try await desk.write("\(round)", by: desk.ann)
            await desk.kit.advance(by: .seconds(1_200))
            desk.ann.goOnline()
            try await desk.kit.settle()
            await desk.kit.advance(by: .seconds(120))
            guard case .overdue(1, let age)? = await alerts.next() else {
                Issue.record("no alert")
                return
            }
            #expect(age > .seconds(600) && age <= .seconds(665), "found with the next look")
        }
        #expect(try desk.texts() == ["1", "2"])
        #expect(desk.ann.store.metrics.committed == 3)
        try await desk.ann.kill()
    }
}

extension LiveValues {
    /// The first value that fits; the suite's time limit ends the waiting.
    fileprivate func first(where fits: (Element) -> Bool) async throws -> Element? {
        for try await value in self where fits(value) { return value }
        return nil
    }
}
