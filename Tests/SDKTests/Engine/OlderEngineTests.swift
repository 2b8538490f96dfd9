import Foundation
import Testing
import TidemarkLock
import TidemarkModel

@testable import Tidemark

/// The engine on systems whose tasks have no executor preference, and the tasks that it starts there.
@Suite(.timeLimit(.minutes(5))) struct OlderEngineTests {
    @Test(arguments: [true, false])
    func `a write is sent and answered, with an executor and without`(prefersExecutors: Bool) async throws {
        var environment = StoreEnvironment.counting()
        environment.prefersExecutors = prefersExecutors
        let server = ScriptedServer()
        let store = try SyncStore.inMemory(
            account: Bench.user, schema: try TestSchema.schema(), environment: environment)
        #expect(environment.isEngineInline == prefersExecutors && !environment.isAllInline)
        try store.connect(to: "http://test", transport: server) { "t" }
        for await status in store.status where status.connection == .live { break }
        for number in 1...20 { try await store.repository(Note.self).create(Note(room: UUID(), text: "\(number)")) }
        for await status in store.status where status.pending == 0 { break }
        #expect(server.accepted.count == 20)
        await store.disconnect()
        #expect(store.currentStatus.connection == .stopped)
    }

    @Test func `a given executor is not used on systems without executors`() throws {
        var environment = StoreEnvironment.counting()
        environment.executor = HeldExecutor()
        #expect(environment.isAllInline)
        environment.prefersExecutors = false
        #expect(!environment.isEngineInline && !environment.isAllInline)
    }

    @Test func `children that have ended are not kept`() async {
        await withChildTasks { children in
            await children.add { while !Task.isCancelled { await Task.yield() } }
            for _ in 0..<10_000 { await children.add {} }
            // Each counts its end a moment later; the one that continues is held until it is cancelled.
            while children.held > 2, !Task.isCancelled {
                await Task.yield()
                await children.add {}
            }
            children.cancelAll()
        }
    }

    @Test func `the body ends with its last child`() async {
        let ended = Lock(0)
        await withChildTasks { children in
            for _ in 0..<100 {
                await children.add {
                    await Task.yield()
                    ended.add(1)
                }
            }
        }
        #expect(ended.current == 100)
    }
}
