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

        let many = try await store.write(.inParts) { batch in
            for number in 1...1_000 { batch.create(Task(listId: list, title: "\(number)")) }
        }
        #expect(many.parts.count == 16)
        try await kit.settle()

        for try await step in receipt.steps {
            switch step {
            case .queued, .sending, .reoffered: continue
            case .committed(let seq, _): print("accepted at \(seq)")
            case .parked(let rejection): print("refused: \(rejection.message)")
            }
        }
        let again = try await store.receipt(for: receipt.id)
        #expect(again?.id == receipt.id)
        let listening = _Concurrency.Task {
            for await event in store.events {
                guard case .rewound(_, _, let counts) = event else { continue }
                print(
                    "\(counts.reoffered) own writes are sent again, \(counts.rescued) records of others are lost for now"
                )
            }
        }
        let lost = try await store.rescued()
        #expect(lost.isEmpty)
        listening.cancel()
        #expect(try kit.rows(of: Task.self).map(\.title).prefix(2) == ["Buy milk", "Bread"])
        #expect(try kit.rows(of: Task.self).count == 1_002)
        for try await step in many.steps where step.isFinal {
            guard case .committed = step else { Issue.record("\(step)"); return }
        }

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

        try await kit.faults.grant(UserID("ann"), to: ScopeID(record: list))
        client.goOffline()
        let (right, wrong) = (UUID(), UUID())
        try await store.write { batch in
            batch.create(Task(id: right, listId: list, title: "right"))
            batch.create(Task(id: wrong, listId: list, title: "wrong"))
        }
        try await kit.faults.revoke(UserID("ann"), from: ScopeID(record: list))
        client.goOnline()
        try await kit.settle()
        try await kit.faults.grant(UserID("ann"), to: ScopeID(record: list))

        let refused = try await store.outbox.parked()
        try await refused.first?.edit { mutations in mutations.removeAll { $0.key.id == UniqueID(wrong) } }

        try await kit.settle()
        #expect(try kit.rows(of: Task.self).filter { [right, wrong].contains($0.id) }.map(\.title) == ["right"])
    }

    @Test func `a task that says nothing of being done is one that is not done`() async throws {
        let kit = try TestKit(schema: try GuideSchema.schema())
        let ann = try await kit.client("ann")
        let bob = try await kit.client("bob")
        let list = TaskList(members: ["ann", "bob"])
        try await ann.store.repository(TaskList.self).create(list)
        // An app that does not know of it, and a backend that forgot the title.
        let (first, second) = (UniqueID(UUID()), UniqueID(UUID()))
        try await ann.store.write { batch in
            for (id, title) in [(first, "Buy milk"), (second, nil)] as [(UniqueID, FieldValue?)] {
                var fields: Fields = ["listId": .id(list.id)]
                fields["title"] = title
                batch.apply(Mutation(key: RecordKey(collection: "tasks", id: id), action: .create(fields)))
            }
        }
        try await kit.settle()
        let tasks = try await bob.store.repository(Task.self).readAll()
        #expect(tasks.map(\.title) == ["Buy milk"] && tasks.map(\.isDone) == [false])
        #expect(try await bob.store.repository(Task.self).undecodable().map(\.field) == ["title"])
    }
}
