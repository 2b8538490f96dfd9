import Foundation
import Testing
import TidemarkModel

@testable import Tidemark

@Suite(.timeLimit(.minutes(5))) struct SyncNowTests {
    private let server = ScriptedServer()
    private let store: SyncStore

    init() throws { store = try .test() }

    private func connect() throws { try store.connect(to: "http://test", transport: server) { "t" } }

    @Test func `syncNow returns when all writes are settled`() async throws {
        try connect()
        let receipt = try await store.repository(Note.self).create(Note(room: UUID(), text: "a"))
        async let other = store.syncNow()
        let status = try await store.syncNow()
        #expect(server.accepted == [UniqueID(receipt.id)])
        #expect(status.connection == .live)
        #expect(try await other.connection == .live)
        #expect(server.connections == 1)
        await store.disconnect()
        #expect(store.currentStatus.activity == .disconnected)
    }

    @Test func `without a connection or with an absent server syncNow fails at once`() async throws {
        #expect(try await store.syncNow().activity == .disconnected)
        server.set(away: true)
        try connect()
        #expect(try await store.syncNow().activity == .offline)
        server.set(away: false)
        #expect(try await store.syncNow().connection == .live)
        await store.disconnect()
    }

    @Test func `a caller that gives up does not wait, and neither does one whose connection is removed`()
        async throws
    {
        server.set(mute: true)
        try connect()
        let one = Task { try await store.syncNow() }
        one.cancel()
        await #expect(throws: CancellationError.self) { try await one.value }
        let two = Task { try await store.syncNow() }
        try await eventually { server.connections != 0 }
        await store.disconnect()
        _ = try await two.value
    }

    @Test func `while paused nothing is sent, and a scheduler's round is one connection`() async throws {
        try connect()
        _ = try await store.syncNow()
        store.pause()
        try await eventually { server.openConnections == 0 }
        try await store.repository(Note.self).create(Note(room: UUID(), text: "a"))
        #expect(try await store.syncNow().activity == .disconnected)
        #expect(server.accepted.isEmpty)
        let status = await store.runOnce(deadline: .seconds(3_600))
        #expect(status.connection == .live)
        #expect(server.accepted.count == 1 && server.connections == 2)
        #expect(store.isPaused)
        try await eventually { server.openConnections == 0 }
        store.resume()
        #expect(try await store.syncNow().connection == .live)
        await store.disconnect()
    }

    @Test func `a scheduler's round ends at its deadline`() async throws {
        server.set(mute: true)
        store.pause()
        try connect()
        let status = await store.runOnce(deadline: .milliseconds(20))
        #expect(status.connection != .live)
        #expect(store.isPaused)
        await store.disconnect()
    }

    @Test func `the status counts pending writes and follows them`() async throws {
        #expect(store.currentStatus.pending == 0)
        try await store.repository(Note.self).create(Note(room: UUID(), text: "a"))
        for await status in store.status where status.pending == 1 { break }
        try connect()
        for await status in store.status where status.pending == 0 && status.activity == .upToDate { break }
        #expect(store.currentStatus.lastSync != nil)
        await store.disconnect()
    }
}
