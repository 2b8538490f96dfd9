import Foundation
import Testing
import TidemarkModel

@testable import Tidemark

@Suite(.timeLimit(.minutes(5))) struct ConnectingTests {
    @Test func `what is written while the parts of a connection begin one after the other is sent`() async throws {
        let executor = HeldExecutor()
        var environment = StoreEnvironment.counting()
        environment.executor = executor
        let store = try SyncStore.inMemory(
            account: Bench.user, schema: try TestSchema.schema(), environment: environment)
        let server = ScriptedServer()
        try store.connect(to: "http://test", transport: server) { "t" }
        // The task of the connection first, which begins the others.
        executor.runOldest()
        executor.runAllButOldest()
        #expect(store.currentStatus.phase == .live)
        try await store.repository(Note.self).create(Note(room: UUID(), text: "a"))
        executor.runAll()
        #expect(server.accepted.count == 1)
        executor.release()
        await store.disconnect()
    }
}
