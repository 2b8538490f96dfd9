import Foundation
import Testing
import TidemarkModel

@testable import Tidemark

@Suite(.timeLimit(.minutes(5))) @MainActor struct DeveloperScreenTests {
    private func value(_ title: String, _ screen: DeveloperScreen) -> String? {
        screen.lines.first { $0.title == title }?.value
    }

    @Test func `it follows waiting writes and present records, and names what needs attention`() async throws {
        let store = try SyncStore.test()
        let screen = DeveloperScreen(store)
        let running = Task { await screen.run() }
        await Watching.wait { value("Pending", screen) == "0" }
        let (red, blue) = (UUID(), UUID())
        for room in [red, blue] { try await store.repository(Note.self).create(Note(room: room, text: "x")) }
        await Watching.wait { value("Pending", screen) == "2" && value("Cached", screen)?.hasPrefix("2 notes") == true }
        #expect(value("Sync", screen) == "not connected" && value("Last sync", screen) == "never")
        #expect(screen.lines.filter(\.isAlarming).isEmpty && screen.error == nil)
        running.cancel()
    }

    @Test func `its buttons sync and clear, and report errors`() async throws {
        let folder = try TemporaryFolder()
        let bench = try Bench(path: folder.path("x.sqlite"))
        let store = SyncStore(database: bench.database, environment: .counting())
        let room = RecordKey.room(1).scope
        try bench.join(room)
        for collection in ["rooms", "people"] { try bench.page(room, collection) }
        try bench.page(room, "notes", .note(1, seq: 10), .note(2, seq: 20))
        try bench.write(1, .set(.note(2), "text", "pending"))
        let screen = DeveloperScreen(store)
        await screen.syncNow()
        #expect(value("Cached", screen)?.hasPrefix("2 notes") == true && screen.error == nil && !screen.isBusy)
        await screen.clearCache()
        #expect(value("Cached", screen)?.hasPrefix("1 notes") == true && value("Pending", screen) == "1")
        try bench.database.close()
        await screen.clearCache()
        #expect(screen.error != nil && !screen.isBusy)
    }

    @Test func `rejected and stalled writes and a full disk are alarming`() {
        var status = SyncStatus(connection: .live, lastSync: Date(timeIntervalSince1970: 0))
        (status.stalled, status.rejected, status.rejectedBlobs, status.isDiskFull) = (1, 2, 3, true)
        let lines = DeveloperScreen.lines(status, StoreStatistics(), SyncMetrics(), [])
        #expect(
            lines.filter(\.isAlarming).map(\.title) == ["Sync", "Stalled", "Rejected", "Files to send", "Cache size"])
        #expect(lines.first { $0.title == "Last sync" }?.value == "1970-01-01T00:00:00Z")
    }
}
