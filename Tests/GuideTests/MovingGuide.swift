import Foundation
import Testing
import Tidemark

/// The older implementation of syncing.
private actor OlderWay {
    private(set) var all: [Todo] = []
    func tasks() -> [Todo] { all }
    func add(_ task: Todo) { all.append(task) }
}

@Suite struct MovingGuide {
    @Test func `the engine accepts each write in the shadow, and agrees with the older implementation`() async throws {
        let store = try SyncStore.inMemory(account: UserID("ann"), schema: try GuideSchema.schema())
        let (api, tasks, rollout) = (OlderWay(), store.repository(Todo.self), Rollout.shadow)
        let list = TaskList(members: ["ann"])
        try await store.repository(TaskList.self).create(list)
        let (task, scope) = (Todo(listId: list.id, title: "Milk"), ScopeID(record: list.id))

        let page = try await rollout.read(older: { await api.tasks() }, engine: { try await tasks.readAll() })
        let missed = try await rollout.write(older: { await api.add(task) }, engine: { try await tasks.create(task) })
        if let missed { print("the engine did not take it: \(missed)") }
        #expect(page.isEmpty && missed == nil)

        let older = await api.tasks()
        var comparison = ShadowComparison(fields: ["title", "isDone"])
        let report = try await store.compare(older, in: scope, with: &comparison)
        if !report.agrees { print(report, report.samples) }
        let share = comparison.agreement(since: 0)
        #expect(report.agrees && share == 1)
    }
}
