import Foundation
import Testing
import Tidemark
import TidemarkTestKit

@Suite(.timeLimit(.minutes(5))) struct SupportGuide {
    @Test func `a store reports its work, counts it, and knows the story of a record`() async throws {
        let kit = try TestKit(schema: try GuideSchema.schema())
        let store = try await kit.client("ann").store
        let list = TaskList(members: ["ann"])
        let made = Todo(listId: list.id, title: "Milk")
        try await store.write { batch in
            batch.create(list)
            batch.create(made)
        }
        try await kit.settle()
        let task = made.id

        let watching = Task { for await event in store.events { print(event) } }
        print(store.metrics.successRate ?? 1, store.metrics.rejected, store.metrics.averageMilliseconds ?? 0)
        let diagnostics = try await store.diagnostics()
        print(diagnostics.outbox.count, "waiting,", diagnostics.scopes.count, "scopes")
        watching.cancel()
        #expect(diagnostics.outbox.isEmpty && diagnostics.scopes.count == 1 && store.metrics.committed == 1)

        let story = try await store.story(of: task, in: "tasks")
        print(story.differing)  // fields whose shown value the server does not have yet
        for write in story.pending + story.refused { print(write.status, write.changes) }
        #expect(story.differing.isEmpty && story.shown != nil)

        let report = try await store.exportReport()  // JSON, a second or so for each 100,000 records
        let texts = try await store.outbox.rejected().map { $0.export() }  // holds what the user wrote: ask first
        #expect(!report.isEmpty && texts.isEmpty)

        for lost in try await store.lostRecords() where !lost.isBack { print(lost.collection, lost.record, lost.body) }
        for write in try await store.outbox.rejected() {
            for last in try await write.lastKnown() { print("was, before: \(last.body)") }
        }
        try await store.discardLostRecords()  // once nobody needs it
        #expect(try await store.lostRecords().isEmpty)
    }
}
