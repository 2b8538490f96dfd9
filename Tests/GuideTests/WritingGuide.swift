import Foundation
import Testing
import Tidemark
import TidemarkTestKit

@Suite(.timeLimit(.minutes(5))) struct WritingGuide {
    @Test func `what the guide writes is written, accepted and refused as it says`() async throws {
        let kit = try TestKit(schema: try GuideSchema.schema())
        let client = try await kit.client("ann")
        let taskList = TaskList(members: ["ann"])
        try await client.store.repository(TaskList.self).create(taskList)
        let (list, store) = (taskList.id, client.store)
        let existing = Task(listId: list, title: "Bake")
        try await store.repository(Task.self).create(existing)
        let task = existing.id

        let tasks = store.repository(Task.self)
        let receipt = try await tasks.create(Task(listId: list, title: "Buy milk"))
        try await tasks.update(task) { $0.isDone = true }

        try await store.write { batch in
            batch.create(Task(listId: list, title: "Bread"))
            batch.delete(Task.self, task)
        }
        try await kit.settle()

        for try await step in receipt.steps {
            switch step {
            case .queued, .sending: continue
            case .committed(let seq, _): print("accepted at \(seq)")
            case .parked(let rejection): print("refused: \(rejection.message)")
            }
        }
        let again = try await store.receipt(for: receipt.id)
        #expect(again?.id == receipt.id)
        #expect(try kit.rows(of: Task.self).map(\.title) == ["Buy milk", "Bread"])

        client.goOffline()
        try await tasks.create(Task(listId: list, title: "Too late"))
        try await kit.faults.revoke(UserID("ann"), from: ScopeID(record: list))
        client.goOnline()
        try await kit.settle()
        #expect(try await store.outbox.parked().map(\.rejection.code) == [.revoked])
        for parked in try await store.outbox.parked() {
            if parked.rejection.code == .revoked { try await parked.discard() } else { try await parked.retry() }
        }
        #expect(try await store.outbox.parked().isEmpty)
    }
}
