import Foundation
import Testing
import TidemarkLock
import TidemarkModel
import TidemarkWire

@testable import Tidemark

/// The engine on misbehaving connections.
@Suite(.timeLimit(.minutes(5))) struct LinkTests {
    private let server = ScriptedServer()
    private let clock = HandClock()
    private let store: SyncStore

    init() throws {
        var environment = StoreEnvironment.counting()
        environment.clock = clock
        store = try .inMemory(account: Bench.user, schema: try TestSchema.schema(), environment: environment)
    }

    /// Moves the clock a second at a time, until the body has returned.
    private func movingClock<Value: Sendable>(
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> (Value, seconds: Int) {
        let isOver = Lock(false)
        async let value: Value = {
            defer { isOver.withLock { $0 = true } }
            return try await body()
        }()
        var seconds = 0
        while !isOver.withLock({ $0 }), seconds < 10_000 {
            for _ in 0..<200 { await Task.yield() }
            clock.advance(by: .seconds(1))
            seconds += 1
        }
        return (try await value, seconds)
    }

    @Test func `syncNow on a connection that has gone silent ends and reports it`() async throws {
        try store.connect(to: "http://test", transport: server) { "t" }
        _ = try await store.syncNow()
        server.set(mute: true)
        try await store.repository(Note.self).create(Note(room: UUID(), text: "a"))
        let (status, _) = try await movingClock { [store] in try await store.syncNow() }
        #expect(status.activity != .upToDate && status.pending == 1)
        server.set(mute: false)
        _ = try await movingClock { [store] in
            for await status in store.status where status.connection == .live && status.pending == 0 { break }
        }
        #expect(server.accepted.count == 1)
        await store.disconnect()
    }

    @Test func `a network that accepts nothing delays neither the engine nor disconnect`() async throws {
        let network = StuckNetwork()
        try store.connect(to: "http://test", transport: network) { "t" }
        let (status, _) = try await movingClock { [store] in try await store.syncNow() }
        #expect(status.connection != .live && network.opened > 0)
        await store.disconnect()
        #expect(store.currentStatus.connection == .stopped && network.opened == network.closed)
    }

    @Test func `a connection that opens while the engine ends is closed once`() async throws {
        for yields in 40..<60 {
            let network = StuckNetwork()
            try store.connect(to: "http://test", transport: network) { "t" }
            try await eventually { network.opened != 0 }
            for _ in 0..<yields { await Task.yield() }
            await store.disconnect()
            #expect(network.opened == network.closed, "after \(yields) turns")
        }
    }

    @Test func `a connection that its other end closes is closed here as well, once`() async throws {
        let network = StuckNetwork()
        try store.connect(to: "http://test", transport: network) { "t" }
        try await eventually { network.opened != 0 }
        network.cut()
        try await eventually { network.closed != 0 }
        await store.disconnect()
        #expect(network.opened == 1 && network.closed == 1)
    }

    @Test func `messages of a connection after its end are ignored`() async throws {
        let network = HauntedNetwork(server)
        try store.connect(to: "http://test", transport: network) { "t" }
        _ = try await store.syncNow()
        store.pause()
        try await eventually { server.openConnections == 0 }
        store.resume()
        _ = try await store.syncNow()
        // This frame cannot be applied, and must not be tried.
        network.haunt(with: ServerMessage.changes(.make(from: "nowhere", to: "elsewhere", [])).encode())
        try await eventually { network.isAtRest }
        try await store.repository(Note.self).create(Note(room: UUID(), text: "a"))
        #expect(try await store.syncNow().connection == .live)
        #expect(server.connections == 2 && server.accepted.count == 1 && store.metrics.failed == 0)
        await store.disconnect()
    }

    @Test func `a connection that opens after it was given up is closed, and replaces none`() async throws {
        let network = LateNetwork(server)
        try store.connect(to: "http://test", transport: network) { "t" }
        _ = try await movingClock { [store] in
            for await status in store.status where status.connection == .live { break }
        }
        network.letThrough()
        try await eventually { !network.isUndecided }
        try #require(!network.isUsed)
        try await store.repository(Note.self).create(Note(room: UUID(), text: "a"))
        #expect(try await store.syncNow().connection == .live)
        #expect(server.accepted.count == 1)
        await store.disconnect()
    }

    @Test func `after a failed write no other effect of its event happens`() async throws {
        server.spoilFrame()
        try store.connect(to: "http://test", transport: server) { "t" }
        #expect(try await store.syncNow().connection != .live, "the round ends with the failure")
        #expect(store.metrics.succeeded == 0 && store.metrics.failed == 1)
        _ = try await movingClock { [store] in
            for await status in store.status where status.connection == .live { break }
        }
        #expect(server.connections == 2 && store.metrics.succeeded == 1)
        await store.disconnect()
    }
}
