import Foundation
import Testing
import Tidemark
import TidemarkTestKit

@Suite(.timeLimit(.minutes(5))) struct TestingGuide {
    @Test func `the guide's test of an app passes`() async throws {
        let schema = try GuideSchema.schema()
        let list = TaskList(members: ["ann", "bob"])

        let kit = try TestKit(schema: schema)
        let ann = try await kit.client("ann")
        let bob = try await kit.client("bob")
        try await ann.store.repository(TaskList.self).create(list)
        try await kit.settle()  // runs until everything is quiet
        #expect(try await bob.store.repository(TaskList.self).read(list.id) != nil)

        kit.faults.dropAck(after: .commit, of: ann)  // the server has it, the answer is lost
        kit.faults.duplicate(ann)  // then a push arrives twice
        kit.faults.kill(ann, at: .afterPush)  // then the process dies
        for title in ["one", "two", "three"] {
            try await ann.store.repository(Todo.self).create(Todo(listId: list.id, title: title))
            try await kit.settle()
        }
        try await ann.relaunch()
        try await kit.settle()
        #expect(try kit.rows(of: Todo.self).map(\.title) == ["one", "two", "three"])  // the server's truth
        try kit.expectConverged()

        bob.goOffline()
        try await bob.store.repository(Todo.self).create(Todo(listId: list.id, title: "four"))
        await kit.advance(by: .seconds(3_600))  // takes milliseconds
        bob.goOnline()
        try await kit.settle()

        let status = try await kit.whileRunning { try await bob.store.syncNow() }
        #expect(status.connection == .live)
        #expect(try kit.rows(of: Todo.self).count == 4)
    }
}

protocol TodoRepository: Sendable {
    func open(in list: UUID) -> LiveValues<[Todo]>
    func add(_ todo: Todo) async throws -> WriteReceipt
}

struct PaintedTodos: TodoRepository {
    func open(in list: UUID) -> LiveValues<[Todo]> {
        LiveValues([[], [Todo(listId: list, title: "Buy milk", syncState: .pending)]])
    }
    func add(_ todo: Todo) async throws -> WriteReceipt {
        guard !todo.title.isEmpty else { throw StoreError(.rejected(.invalid), "tasks.title: is empty") }
        return WriteReceipt(id: todo.id, steps: [.queued, .rejected(Rejection(.quota, "the list is full"))])
    }
}
