import Foundation
import Testing
import Tidemark
import TidemarkModel

@Suite(.timeLimit(.minutes(5))) struct BackgroundRefreshTests {
    private let server = ScriptedServer()
    private let scheduler = ScriptedScheduler()
    private let store: SyncStore
    private let refresh: BackgroundRefresh

    init() throws {
        store = try .test()
        // No deadline may end a round before the test does.
        refresh = BackgroundRefresh("app.sync", by: scheduler, deadline: .seconds(600))
        store.pause()
        try store.connect(to: "http://test", transport: server) { "t" }
    }

    private func write() async throws {
        try await store.repository(Note.self).create(Note(room: UUID(), text: "a"))
    }

    /// Runs `body` in an app that has registered its launch task.
    private func launched(_ body: () async throws -> Void) async throws {
        try refresh.register()
        try await withThrowingDiscardingTaskGroup { app in
            app.addTask { [refresh, store] in await refresh.run(store) }
            try await body()
            app.cancelAll()
        }
        await store.disconnect()
    }

    @Test func `a launch requests a task in a quarter of an hour, and each task requests the next one first`()
        async throws
    {
        try await launched {
            #expect(scheduler.log == ["register app.sync", "request app.sync after 900 s"])
            server.set(mute: true)
            let task = scheduler.grant()
            try await eventually { server.connections != 0 }
            #expect(scheduler.log.count == 3 && scheduler.log.last == "request app.sync after 900 s")
            task.expire()
            #expect(await task.success() == false)
        }
        #expect(scheduler.log.last == "cancel app.sync")
    }

    @Test func `a task sends what was written while the app was away, and leaves the store paused`() async throws {
        try await launched {
            try await write()
            #expect(server.accepted.isEmpty)
            #expect(await scheduler.grant().success() == true)
            #expect(server.accepted.count == 1)
            #expect(store.isPaused)
        }
    }

    @Test func `a task that expires cancels its round, and the next one sends the write once`() async throws {
        try await launched {
            try await write()
            server.set(mute: true)
            let task = scheduler.grant()
            try await eventually { server.connections != 0 }
            task.expire()
            #expect(await task.success() == false)
            try await eventually { server.openConnections == 0 }
            #expect(store.isPaused)
            server.set(mute: false)
            #expect(await scheduler.grant().success() == true)
            #expect(server.accepted.count == 1)
        }
    }

    @Test func `without a server a task ends without success, and the write stays`() async throws {
        try await launched {
            try await write()
            server.set(away: true)
            #expect(await scheduler.grant().success() == false)
            #expect(store.currentStatus.pending == 1)
        }
    }

    @Test func `a system that grants nothing now gets another request with the next task`() async throws {
        scheduler.set(refuses: true)
        try await launched {
            #expect(scheduler.log == ["register app.sync"])
            scheduler.set(refuses: false)
            #expect(await scheduler.grant().success() == true)
            #expect(scheduler.log == ["register app.sync", "request app.sync after 900 s"])
        }
    }

    @Test func `a task that is granted before the store is open waits for it`() async throws {
        try refresh.register()
        let task = scheduler.grant()
        try await write()
        try await withThrowingDiscardingTaskGroup { app in
            app.addTask { [refresh, store] in await refresh.run(store) }
            #expect(await task.success() == true)
            app.cancelAll()
        }
        #expect(server.accepted.count == 1)
        await store.disconnect()
    }

    @Test func `a task that begins when the app no longer runs rounds is ended at once`() async throws {
        try await launched {}
        #expect(await scheduler.grant().success() == false)
    }
}
