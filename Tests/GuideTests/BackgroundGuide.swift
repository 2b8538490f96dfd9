import Foundation
import Testing
import Tidemark
import TidemarkTestKit

@Suite(.timeLimit(.minutes(1))) struct BackgroundGuide {
    @Test func `a round in the background sends what was written while paused`() async throws {
        let kit = try TestKit(schema: try GuideSchema.schema())
        let client = try await kit.client("ann")
        let store = client.store
        try await kit.settle()
        store.pause()
        store.resume()
        store.pause()
        try await store.repository(TaskList.self).create(TaskList(members: ["ann"]))
        try await kit.settle()
        #expect(try kit.rows(of: TaskList.self).isEmpty)
        try await kit.whileRunning {
            let status = await store.runOnce(deadline: .seconds(25))
            let isDone = status.activity == .completed
            #expect(isDone)
            #expect(store.isPaused)
        }
        #expect(try kit.rows(of: TaskList.self).count == 1)
        store.resume()
        try await kit.whileRunning {
            let current = try await store.syncNow()
            print(current.phase, current.pending)
            let diagnostics = try await store.diagnostics()
            for write in diagnostics.outbox { print(write.number, write.state, write.lastError ?? "") }
            #expect(diagnostics.outbox.isEmpty)
        }
    }
}
