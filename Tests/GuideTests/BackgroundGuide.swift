import Foundation
import Testing
import Tidemark
import TidemarkLock
import TidemarkTestKit

@Suite(.timeLimit(.minutes(5))) struct BackgroundGuide {
    @Test func `a round in the background sends writes made while paused`() async throws {
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
            let isDone = status.activity == .upToDate
            #expect(isDone)
            #expect(store.isPaused)
        }
        #expect(try kit.rows(of: TaskList.self).count == 1)
    }

    @Test func `a system that grants a task gets a round`() async throws {
        let kit = try TestKit(schema: try GuideSchema.schema())
        let store = try await kit.client("ann").store
        try await kit.settle()
        let scheduler = OneTask()
        let refresh = BackgroundRefresh("com.example.sync", by: scheduler)
        try refresh.register()
        try await store.repository(TaskList.self).create(TaskList(members: ["ann"]))
        let ended = try await kit.whileRunning {
            // Cancelled at the end of its scope, as by an app that ends.
            async let _: Void = refresh.run(store)
            return await scheduler.ended()
        }
        #expect(ended)
        #expect(try kit.rows(of: TaskList.self).count == 1)
    }

    @Test func `a push notification gets a round, while the app stays paused`() async throws {
        let kit = try TestKit(schema: try GuideSchema.schema())
        let (store, other) = (try await kit.client("ann").store, try await kit.client("ann").store)
        try await kit.settle()
        store.pause()
        let list = TaskList(members: ["ann"])
        try await other.repository(TaskList.self).create(list)
        try await kit.settle()
        #expect(try await store.repository(TaskList.self).read(list.id) == nil)
        let hasNews = try await kit.whileRunning {
            let before = store.currentStatus.received
            let after = await store.runOnce(deadline: .seconds(25))
            let hasNews = after.received > before
            return hasNews
        }
        #expect(hasNews && store.isPaused)
        #expect(try await store.repository(TaskList.self).read(list.id) != nil)
    }

    @Test func `sync now is a round, and the diagnostics show the rest`() async throws {
        let kit = try TestKit(schema: try GuideSchema.schema())
        let store = try await kit.client("ann").store
        try await store.repository(TaskList.self).create(TaskList(members: ["ann"]))
        try await kit.whileRunning {
            let current = try await store.syncNow()
            print(current.connection, current.pending)
            let diagnostics = try await store.diagnostics()
            for write in diagnostics.outbox { print(write.number, write.state, write.lastError ?? "") }
            #expect(diagnostics.outbox.isEmpty)
        }
    }

    @Test func `a copy is compared when the app asks, and differences are reported`() async throws {
        let kit = try TestKit(schema: try GuideSchema.schema())
        let store = try await kit.client("ann").store
        try await store.repository(TaskList.self).create(TaskList(members: ["ann"]))
        try await kit.settle()
        try await kit.whileRunning {
            store.compareWithServer()
            for await event in store.events {
                if case .diverged(let difference) = event { print("\(difference.records) records were wrong") }
                if case .compared(let records) = event {
                    print("compared with \(records) records of the server")
                    #expect(records == 1)
                    break
                }
            }
        }
        let wrong = try await store.diagnostics().comparison?.differences  // should stay 0
        #expect(wrong == 0)
    }
}

/// A scheduler that grants one task at once.
private final class OneTask: RefreshScheduler, RefreshTask {
    private let launch = Lock<(@Sendable (any RefreshTask) -> Void)?>(nil)
    private let (ends, end) = AsyncStream.makeStream(of: Bool.self)

    func register(_ identifier: String, _ launch: @escaping @Sendable (any RefreshTask) -> Void) {
        self.launch.withLock { $0 = launch }
    }

    func request(_ identifier: String, after delay: Duration) {
        let launch = launch.withLock { launch in
            defer { launch = nil }
            return launch
        }
        launch?(self)
    }

    func cancel(_ identifier: String) {}

    func onExpiration(_ expire: @escaping @Sendable () -> Void) {}

    func complete(success: Bool) { end.yield(success) }

    /// Whether the task ended with success.
    func ended() async -> Bool {
        for await success in ends { return success }
        return false
    }
}
