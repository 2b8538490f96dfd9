import Foundation
import Testing
import TidemarkModel
import TidemarkWire

@testable import Tidemark

@Suite(.timeLimit(.minutes(5))) struct ConnectingTests {
    private let executor = HeldExecutor()
    private let server = ScriptedServer()
    private let store: SyncStore

    init() throws {
        var environment = StoreEnvironment.counting()
        environment.executor = executor
        store = try .inMemory(account: Bench.user, schema: try TestSchema.schema(), environment: environment)
    }

    private func connect() throws { try store.connect(to: "http://test", transport: server) { "t" } }

    @Test func `a write made while the parts of a connection start one after the other is sent`() async throws {
        try connect()
        // First the task of the connection, which starts the others.
        executor.runOldest()
        executor.runAllButOldest()
        #expect(store.currentStatus.connection == .live)
        try await store.repository(Note.self).create(Note(room: UUID(), text: "a"))
        executor.runAll()
        #expect(server.accepted.count == 1)
        executor.release()
        await store.disconnect()
    }

    @Test func `a connection that replaces another one begins without a peer, also while paused`() async throws {
        let room = ScopeID("room")
        try connect()
        executor.runAll()
        var users = store.presence(in: room).makeAsyncIterator()
        #expect(await users.next() == [:])
        let word = Ephemeral(scope: room, user: UserID("bob"), kind: "presence", payload: ["online": true], lifetime: 0)
        store.presence.deliver(word)
        #expect(await users.next() == [UserID("bob"): .online])
        store.pause()
        try connect()
        executor.runAll()
        #expect(store.currentStatus.connection == .stopped)
        for await now in store.presence(in: room) {
            #expect(now == [:])
            break
        }
        executor.release()
        await store.disconnect()
    }

    @Test func `a connection that lives as long as its caller's task is ended by disconnecting`() async throws {
        executor.release()
        let caller = Task { try await store.run(connectedTo: "http://test", transport: server) { "t" } }
        for await status in store.status where status.connection == .live { break }
        await store.disconnect()
        for await status in store.status where status.connection == .stopped { break }
        try await eventually { server.openConnections == 0 }
        caller.cancel()
        try await caller.value
    }
}
