import Foundation
import GRDB
import Testing
import TidemarkModel
import TidemarkWire

@testable import Tidemark

@Suite(.timeLimit(.minutes(5))) struct EphemeralTests {
    private let server = ScriptedServer()
    private let store: SyncStore
    private let room = ScopeID("room")

    init() throws { store = try .test() }

    @Test func `a message reaches the listeners of its scope, and the listener ends with its task`() async throws {
        var heard = store.ephemerals(in: room).makeAsyncIterator()
        let elsewhere = store.ephemerals(in: ScopeID("other"))
        #expect(store.listeners.count == 2)
        try store.connect(to: "http://test", transport: server) { "t" }
        _ = try await store.syncNow()
        store.send(ephemeral: "typing", ["a": 1], in: room, lifetime: .seconds(6))
        let message = await heard.next()
        #expect(message?.kind == "typing" && message?.payload == ["a": 1] && message?.lifetime == .seconds(6))
        #expect(message?.user == UserID("echo") && message?.scope == room)
        let waiting = Task { [store, room] in
            for await _ in store.ephemerals(in: room) where Task.isCancelled { break }
        }
        waiting.cancel()
        await waiting.value
        withExtendedLifetime(elsewhere) { #expect(store.listeners.count == 2) }
        await store.disconnect()
    }

    @Test func `a message that cannot be sent now is dropped, and nothing is written`() async throws {
        let before = try await tables()
        store.send(ephemeral: "typing", in: room)
        try store.connect(to: "http://test", transport: server) { "t" }
        _ = try await store.syncNow()
        var heard = store.ephemerals(in: room).makeAsyncIterator()
        let connected = try await tables()
        // None of these may be sent: too large, too long, not a kind, the server's own.
        store.send(ephemeral: "a", ["a": .string(String(repeating: "x", count: 1_024))], in: room)
        store.send(ephemeral: "b", in: room, lifetime: .seconds(11))
        store.send(ephemeral: "", in: room)
        store.send(ephemeral: "presence", in: room)
        store.send(ephemeral: "last", in: room)
        #expect(await heard.next()?.kind == "last")
        #expect(try await tables() == connected)
        #expect(before["tidemark_outbox"] == 0 && connected["tidemark_outbox"] == 0)
        await store.disconnect()
    }

    @Test func `a server that takes no such messages is sent none`() {
        var bench = MachineBench()
        let message = Ephemeral(scope: room, kind: "typing", lifetime: 1)
        bench.on(.say(message))
        bench.on(.start)
        bench.live()
        bench.on(.say(message))
        #expect(bench.sent.filter { if case .ephemeral = $0 { true } else { false } }.isEmpty)
        bench.on(.closed(code: 1006, reason: "cut"))
        bench.pass(60_000)
        bench.live(ephemerals: EphemeralLimits())
        bench.on(.say(message))
        #expect(bench.sent.last == .ephemeral(message))
        bench.on(.closed(code: 1006, reason: "cut"))
        let count = bench.sent.count
        bench.on(.say(message))
        #expect(bench.sent.count == count)
    }

    @Test func `a server's ephemeral messages arrive while connected, and are no acknowledged frames`() {
        var bench = MachineBench()
        bench.on(.start)
        bench.live(ephemerals: EphemeralLimits())
        bench.pass(10_000)
        let acks = bench.sent.count
        let message = Ephemeral(scope: room, user: UserID("ann"), kind: "typing", lifetime: 1)
        bench.on(.arrived([ServerMessage.ephemeral(message).encode()]))
        bench.pass(10_000)
        #expect(bench.heard == [message])
        #expect(bench.sent.count == acks)
    }

    /// The number of rows of each table.
    private func tables() async throws -> [String: Int] {
        try await store.reader.read { db in
            let names = try String.fetchAll(db, sql: "SELECT name FROM sqlite_master WHERE type = 'table'")
            return try Dictionary(
                uniqueKeysWithValues: names.map {
                    ($0, try Int.fetchOne(db, sql: "SELECT count(*) FROM \"\($0)\"") ?? 0)
                })
        }
    }
}

extension MachineBench {
    fileprivate mutating func live(ephemerals: EphemeralLimits? = nil) {
        connect(ephemerals: ephemerals)
        settle(0)
    }
}
