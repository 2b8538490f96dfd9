import Foundation
import Testing
import TidemarkModel

@testable import Tidemark

/// Running observations are listed with their tables and their call, and none is once its task has ended.
@Suite(.timeLimit(.minutes(5))) struct ActiveObservationTests {
    @Test func `a thousand that were cancelled leave none`() async throws {
        let store = try SyncStore.test()
        let notes = store.repository(Note.self)
        for _ in 0..<20 {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<50 {
                    group.addTask {
                        // A failed observation would not be one that ends.
                        do { for try await _ in notes.observe() {} } catch { Issue.record(error) }
                    }
                }
                try await eventually { store.database.changes.waiting >= 50 }
                let active = try? await store.diagnostics().activeObservations
                #expect(active?.map(\.count) == [50])
                group.cancelAll()
            }
        }
        #expect(try await store.diagnostics().activeObservations == [])
    }

    @Test func `each is listed with the tables it reads and where it began`() async throws {
        let store = try SyncStore.test()
        let line = #line + 1
        let (lists, counts) = (store.repository(Note.self).observe(), store.repository(Room.self).observeCount())
        let snapshots = store.observe { try $0.readAll(Room.self, "").count }
        var running = [lists.makeAsyncIterator(), lists.makeAsyncIterator()]
        let others = (
            counts.makeAsyncIterator(), snapshots.makeAsyncIterator(), store.outbox.pendingCount.makeAsyncIterator()
        )
        let active = try #require(try await store.diagnostics().activeObservations)
        #expect(active.map(\.what) == ["notes", "count of rooms", "pending", "snapshot"])
        #expect(active.map(\.count) == [2, 1, 1, 1])
        #expect(active.map(\.line) == [line, line, 0, line + 1])
        #expect(active.map(\.file) == [#fileID, #fileID, "", #fileID])
        withExtendedLifetime(others) { running.removeAll() }
        let left = try await store.diagnostics().activeObservations
        #expect(left?.contains { $0.what == "notes" } == false)
    }

    @Test func `a report contains them, and an older report is read without`() async throws {
        let store = try SyncStore.test()
        let notes = store.repository(Note.self).observe().makeAsyncIterator()
        let report = try await store.exportReport()
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        #expect(try decoder.decode(Diagnostics.self, from: report).activeObservations?.count == 1)
        var members = try #require(try JSONSerialization.jsonObject(with: report) as? [String: Any])
        for name in ["activeObservations", "sharing"] { members[name] = nil }
        let before = try JSONSerialization.data(withJSONObject: members)
        #expect(try decoder.decode(Diagnostics.self, from: before).activeObservations == nil)
        withExtendedLifetime(notes) {}
    }
}
