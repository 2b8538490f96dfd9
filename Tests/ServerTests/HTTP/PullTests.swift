import Testing
import TidemarkModel
import TidemarkNIOTransport
import TidemarkWire

@Suite(.timeLimit(.minutes(5))) struct PullTests {
    private func pull(
        _ server: TestServer, as user: String, cursor: String? = nil, scopes: [HeldScope] = [], client: UInt64? = nil,
        wait: Int = 0
    ) async throws -> PullAnswer {
        var members: [String] = []
        if let cursor { members.append(#""cursor":"\#(cursor)""#) }
        if let client { members.append(#""client":"\#(Sample.id(client))""#) }
        let held = scopes.map { #"["\#($0.scope)",\#($0.since)]"# }.joined(separator: ",")
        members.append(#""scopes":[\#(held)],"wait_ms":\#(wait)"#)
        let answer = try await server.post(
            "/v1/pull", as: user, body: "{" + members.joined(separator: ",") + "}")
        try #require(answer.status == 200, "\(answer.text)")
        return try PullAnswer.decode(answer.body)
    }

    private func changes(_ answer: PullAnswer) throws -> [Changes] {
        try answer.frames.map { frame in
            guard case .changes(let changes) = try ServerMessage.decode(frame) else { throw WireError("no changes") }
            return changes
        }
    }

    private let directory = HeldScope(scope: ScopeID("directory"), since: 0)

    @Test func `pulls follow one another without a gap and end in a consistent state`() async throws {
        try await TestServer.running { server in
            let ann = try await TestClient.welcomed(server, as: "ann", 1)
            let start = try await pull(server, as: "bob")
            #expect(start.cursorState == .none && start.added.map(\.scope) == [directory.scope] && !start.hasMore)
            try await ann.push(from: 1, Sample.profile(10), Sample.conversation(11, of: "ann"), Sample.profile(12))
            _ = try await ann.settled(through: 3)
            let cursor = try changes(start).last?.cursor
            let next = try await pull(server, as: "bob", cursor: cursor, scopes: [directory])
            #expect(next.cursorState == .ok && next.kept == [directory] && next.cursor == cursor)
            let frames = try changes(next)
            #expect(frames.flatMap(\.records).map(\.key.id) == [Sample.id(10), Sample.id(12)])
            #expect(frames.first?.from == cursor && frames.last?.isConsistent == true)
            #expect(zip(frames, frames.dropFirst()).allSatisfy { $0.cursor == $1.from })
            let own = try await pull(server, as: "ann", client: 1)
            #expect(own.settledThrough == 3)
            #expect(try changes(own).last?.settled?.outcomes.map(\.number) == [1, 2, 3])
        }
    }

    @Test func `a foreign cursor is a resync, and another user's client is refused`() async throws {
        try await TestServer.running { server in
            _ = try await TestClient.welcomed(server, as: "ann", 1)
            let answer = try await pull(server, as: "bob", cursor: "AQAA", scopes: [directory])
            #expect(answer.cursorState == .resync && answer.purged == [directory.scope] && answer.kept.isEmpty)
            for client in [1, 2] {
                let refused = try await server.post(
                    "/v1/pull", as: "bob", body: #"{"client":"\#(Sample.id(UInt64(client)))"}"#)
                #expect(refused.status == 409 && refused.text.contains(#""code":"client_unknown""#))
            }
        }
    }

    @Test func `a waiting pull is woken by changes that concern it, and by no others`() async throws {
        try await TestServer.running { server in
            let ann = try await TestClient.welcomed(server, as: "ann", 1)
            let cursor = try changes(try await pull(server, as: "bob")).last?.cursor
            async let waiting = pull(server, as: "bob", cursor: cursor, scopes: [directory], wait: 25_000)
            try await eventually { server.watchers != 0 }
            try await ann.push(from: 1, Sample.conversation(10, of: "ann"))
            _ = try await ann.settled(through: 1)
            try await ann.push(from: 2, Sample.profile(11))
            _ = try await ann.settled(through: 2)
            let start = ContinuousClock.now
            #expect(try changes(try await waiting).flatMap(\.records).map(\.key.id) == [Sample.id(11)])
            #expect(ContinuousClock.now - start < .seconds(20))
        }
    }

    @Test func `a pull that waits in vain returns the head of the order`() async throws {
        try await TestServer.running { server in
            let cursor = try changes(try await pull(server, as: "bob")).last?.cursor
            let answer = try await pull(server, as: "bob", cursor: cursor, scopes: [directory], wait: 50)
            #expect(try changes(answer).flatMap(\.records).isEmpty)
            #expect(try changes(answer).last?.isConsistent == true && !answer.hasMore)
        }
    }

    @Test func `a stop ends waiting pulls`() async throws {
        try await TestServer.running { server in
            let cursor = try changes(try await pull(server, as: "bob")).last?.cursor
            async let waiting = pull(server, as: "bob", cursor: cursor, scopes: [directory], wait: 25_000)
            try await eventually { server.watchers != 0 }
            await server.stop()
            #expect(try await waiting.cursorState == .ok)
        }
    }

    @Test func `a long catch-up is sent in several answers`() async throws {
        try await TestServer.running(limits: ["RATE": "100000", "BURST": "100000"]) { server in
            let ann = try await TestClient.welcomed(server, as: "ann", 1)
            let start = try changes(try await pull(server, as: "bob")).last?.cursor
            let name = String(repeating: "n", count: 256)
            let text = String(repeating: "x", count: 60_000)
            try await ann.push(from: 1, Sample.conversation(10, of: "ann", "bob"), Sample.profile(11, name: name))
            _ = try await ann.settled(through: 2)
            let scopes = [directory, HeldScope(scope: Sample.scope(10), since: 1)]
            // The conversation is new to bob: its page comes first, then deltas from the head.
            var cursor = try changes(try await pull(server, as: "bob", cursor: start, scopes: [directory])).last?.cursor
            for number in Int64(3)...42 {
                try await ann.push(from: number, Sample.message(100 + UInt64(number), in: 10, text: text))
                _ = try await ann.settled(through: number)
            }
            var seen: [SequenceNumber] = []
            var answers = 0
            var hasMore = true
            while hasMore {
                let answer = try await pull(server, as: "bob", cursor: cursor, scopes: scopes)
                let frames = try changes(answer)
                #expect(frames.first?.from == cursor)
                seen += frames.flatMap(\.records).map(\.seq)
                cursor = frames.last?.cursor
                hasMore = answer.hasMore
                answers += 1
            }
            #expect(seen == Array(3...42))
            #expect(answers > 1)
        }
    }
}
