import Foundation
import Testing
import TidemarkModel
import TidemarkWire

@testable import Tidemark

@Suite(.timeLimit(.minutes(5))) struct PresenceTests {
    private func asked(_ bench: MachineBench) -> [String] {
        bench.sent.compactMap { message in
            guard case .ephemeral(let said) = message, said.kind == "presence" else { return nil }
            return said.scope.text + (said.lifetime > 0 ? "" : " no more")
        }
    }

    private func word(_ scope: String) -> SyncEvent {
        let message = Ephemeral(
            scope: ScopeID(scope), user: UserID("bob"), kind: "presence", payload: ["online": true], lifetime: 0)
        return .arrived([ServerMessage.ephemeral(message).encode()])
    }

    private func live(_ bench: inout MachineBench) {
        bench.connect()
        bench.settle(0)
    }

    @Test func `watched scopes are requested in small groups, until they are answered, on every connection`() {
        var bench = MachineBench()
        bench.on(.watch(["a", "b", "c", "d", "e"].reduce(into: []) { $0.insert(ScopeID($1)) }))
        bench.on(.start)
        #expect(asked(bench) == [])
        live(&bench)
        #expect(asked(bench) == ["a", "b", "c", "d"])
        bench.pass(1_000)
        #expect(asked(bench) == ["a", "b", "c", "d", "e"])
        for scope in ["a", "b", "d", "e"] { bench.on(word(scope)) }
        bench.pass(9_999)
        #expect(asked(bench).count == 5)
        bench.pass(1)
        #expect(asked(bench).dropFirst(5) == ["c"])
        bench.on(word("c"))
        bench.pass(60_000)
        #expect(asked(bench).count == 6)
        bench.on(.closed(code: 1006, reason: "cut"))
        bench.pass(60_000)
        live(&bench)
        #expect(asked(bench).dropFirst(6) == ["a", "b", "c", "d"])
    }

    @Test func `ended watches are withdrawn, and a grant makes the open requests due`() {
        var bench = MachineBench()
        bench.on(.start)
        live(&bench)
        bench.on(.watch([ScopeID("a"), ScopeID("b")]))
        bench.on(word("a"))
        bench.pass(2_000)
        bench.on(.watch([ScopeID("b")]))
        #expect(asked(bench) == ["a", "b", "a no more"])
        bench.receive(
            .changes(
                .make(from: "c1", to: "c2", [], grants: [.init(scope: ScopeID("b"), since: 3, role: .member)])))
        #expect(asked(bench).last == "b" && asked(bench).count == 4)
    }

    @Test func `a watcher sees the known presence while connected, and nothing after it`() async throws {
        let board = PresenceBoard()
        let room = ScopeID("room")
        func word(_ user: String, _ payload: Fields) -> Ephemeral {
            Ephemeral(scope: room, user: UserID(user), kind: "presence", payload: payload, lifetime: 0)
        }
        board.deliver(word("ann", ["online": true]))
        var values = board.values(in: room) {}.makeAsyncIterator()
        #expect(board.wanted == [room])
        #expect(await values.next() == [:])
        board.deliver(word("bob", ["online": true]))
        #expect(await values.next() == [UserID("bob"): .online])
        board.deliver(word("bob", ["online": false, "seen": 5_000]))
        #expect(
            await values.next() == [UserID("bob"): .lastSeen(.init(timeIntervalSince1970: 5))])
        board.deliver(word("bob", ["online": false]))
        #expect(await values.next() == [UserID("bob"): .unknown])
        board.lost()
        #expect(await values.next() == [:])
    }

    @Test func `a scope is watched as long as it has a watcher`() async {
        let board = PresenceBoard()
        let room = ScopeID("room")
        let tasks = (0..<2).map { _ in
            let values = board.values(in: room) {}
            return Task { for await _ in values {} }
        }
        #expect(board.wanted == [room])
        tasks[0].cancel()
        await tasks[0].value
        #expect(board.wanted == [room])
        tasks[1].cancel()
        await tasks[1].value
        #expect(board.wanted == [])
    }
}
