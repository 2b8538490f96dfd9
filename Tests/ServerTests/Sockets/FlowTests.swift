import Testing
import TidemarkAssembly
import TidemarkHub
import TidemarkModel
import TidemarkNIOTransport
import TidemarkNode
import TidemarkWire

@Suite(.timeLimit(.minutes(5))) struct FlowTests {
    @Test func `a client that pushes too fast is told to wait and loses nothing`() async throws {
        try await TestServer.running(limits: ["BURST": "3"], change: TestServer.refillsNothing) { server in
            let ann = try await TestClient.welcomed(server, as: "ann", 1)
            try await ann.push(from: 1, Sample.profile(11), Sample.profile(12), Sample.profile(13))
            _ = try await ann.settled(through: 3)
            try await ann.push(from: 4, Sample.profile(14), Sample.profile(15))
            let error = try await ann.error()
            #expect(error.code == .rateLimited)
            #expect(error.retryAfter == 2_001)
        }
    }

    @Test func `a catch-up's window is as long as would have filled a frame, from half to twice the one before`()
        throws
    {
        var one = try OneSession(tail: 100_000) { $0.changesBytesTarget = 20_000 }
        one.connect(from: 10, snapshot: 100_000)
        var spans = try [#require(one.windows.last).span]
        // The bodies, and so the frames, have about so many bytes.
        for bytes in [10, 15_000, 15_000, 90_000, 20_000] {
            let last = try #require(one.windows.last)
            let through = last.after + last.span
            one.answer([OneSession.post(through, bytes: bytes)], through: through, state: 100_000)
            spans.append(try #require(one.windows.last).span)
        }
        #expect(spans[0] == 1_024 && spans[1] == 2_048, "\(spans)")
        // A row is a little longer than its body.
        #expect((2_600...2_731).contains(spans[2]) && (3_300...3_641).contains(spans[3]), "\(spans)")
        #expect(spans[4] == spans[3] / 2 && (spans[4] - 50...spans[4]).contains(spans[5]), "\(spans)")
    }

    @Test func `entries behind a refused push do not use up what that one waits for`() {
        var bucket = TokenBucket(perSecond: 100, burst: 1_000, now: 0)
        var settled: Int64 = 0
        var now: Milliseconds = 0
        for _ in 0..<20 where settled < 1_500 {
            // The client sends all that is left, in stretches of 200; after a refusal it sends the rest all the same.
            var wait: Int64 = 0
            var first = settled + 1
            while first <= 1_500 {
                let count = min(200, Int(1_500 - first + 1))
                if let refused = bucket.takeInOrder(count, now: now) {
                    wait = refused
                } else {
                    #expect(first == settled + 1, "only what continues what is settled is taken")
                    settled += Int64(count)
                }
                first += Int64(count)
            }
            now += wait
        }
        #expect(settled == 1_500)
        #expect((5_000...5_100).contains(now))
    }

    @Test func `a gap is answered with the number to continue at`() async throws {
        try await TestServer.running { server in
            let ann = try await TestClient.welcomed(server, as: "ann", 1)
            try await ann.push(from: 3, Sample.profile(11))
            let error = try await ann.error()
            #expect(error.code == .gap && error.settledThrough == 0)
        }
    }

    @Test func `unacknowledged outcomes are kept up to a bound`() async throws {
        try await TestServer.running { server in
            let ann = try await TestClient.welcomed(server, as: "ann", 1)
            try await ann.push(from: 4_096, Sample.profile(11))
            #expect(try await ann.error().code == .gap)
            try await ann.push(from: 4_096, Sample.profile(11), Sample.profile(12))
            #expect(try await ann.error().code == .overloaded)
            try await ann.send(.push(Push(first: 1 << 52, ackedThrough: 0, entries: [Push.Entry(Sample.profile(11))])))
            #expect(try await ann.error().code == .overloaded)
        }
    }

    /// With the large ring the catch-up is from memory; with the small one, from the store.
    @Test(arguments: ["4096", "67108864"])
    func `a slow consumer leaves live mode and catches up once it acknowledges`(ring: String) async throws {
        try await TestServer.running(limits: ["WINDOW_FRAMES": "4", "RING_BYTES": ring]) { server in
            let slow = try await TestClient.welcomed(server, as: "slow", 1)
            let author = try await TestClient.welcomed(server, as: "author", 2)
            for number in Int64(1)...40 {
                try await author.push(from: number, Sample.profile(100 + UInt64(number)))
                _ = try await author.settled(through: number)
            }
            var frames: [Changes] = []
            for _ in 0..<4 { frames.append(try await slow.changes(acknowledging: false)) }
            #expect(frames.flatMap(\.records).map(\.seq) == [1, 2, 3, 4])
            // Nothing more is sent before the acknowledgement: the answer to a page is the next message.
            let page = PageRequest(
                id: 1, scope: ScopeID("directory"), since: 0, collection: "conversations", limit: 1)
            try await slow.send(.page(page))
            try await slow.acknowledge()
            while frames.last?.isConsistent != true || frames.flatMap(\.records).count < 40 {
                switch try await slow.next() {
                case .changes(let changes):
                    #expect(changes.from == frames.last?.cursor)
                    frames.append(changes)
                    try await slow.send(.ack(Ack(frames: Int64(frames.count + 1))))
                case .page: break
                case let other: throw TestClient.Unexpected(message: other)
                }
            }
            #expect(frames.flatMap(\.records).map(\.seq) == Array(1...40))
            try await author.push(from: 41, Sample.profile(200))
            var last = try await slow.next()
            if case .page = last { last = try await slow.next() }
            guard case .changes(let live) = last else { throw TestClient.Unexpected(message: last) }
            #expect(live.isLive && live.records.map(\.seq) == [41])
        }
    }

    @Test func `catch-up reads windows when the ring is too small`() async throws {
        try await TestServer.running(limits: ["RING_BYTES": "4096"]) { server in
            let first = try await TestClient.welcomed(server, as: "ann", 1)
            try await first.push(from: 1, Sample.profile(10))
            let cursor = try await first.settled(through: 1).last?.cursor
            await first.leave()
            let author = try await TestClient.welcomed(server, as: "author", 2)
            for number in Int64(1)...60 {
                try await author.push(from: number, Sample.profile(100 + UInt64(number)))
                _ = try await author.settled(through: number)
            }
            let again = try await TestClient.greeting(
                server, as: "ann", 1, isNew: false, counter: 2, cursor: cursor,
                scopes: [HeldScope(scope: ScopeID("directory"), since: 0)])
            _ = try await again.welcome()
            var frames: [Changes] = []
            while frames.last?.isConsistent != true { frames.append(try await again.changes()) }
            #expect(frames.flatMap(\.records).map(\.seq) == Array(2...61))
            #expect(frames.contains { !$0.isLive && !$0.records.isEmpty })
        }
    }

    @Test func `an event loop that lags behind the commits serves its clients from the store`() async throws {
        try await TestServer.running(change: { $0.node.inboxBytesMax = 0 }) { server in
            let ann = try await TestClient.welcomed(server, as: "ann", 1)
            let bob = try await TestClient.welcomed(server, as: "bob", 2)
            for number in Int64(1)...5 { try await ann.push(from: number, Sample.profile(100 + UInt64(number))) }
            #expect(try await ann.settled(through: 5).flatMap(\.records).map(\.seq) == [1, 2, 3, 4, 5])
            var frames: [Changes] = []
            while frames.last?.isConsistent != true || frames.flatMap(\.records).count < 5 {
                frames.append(try await bob.changes())
            }
            #expect(frames.flatMap(\.records).map(\.seq) == [1, 2, 3, 4, 5])
            #expect(frames.allSatisfy { !$0.isLive || $0.records.isEmpty })
        }
    }

    @Test func `everything is sent through a socket that accepts a little at a time`() async throws {
        try await TestServer.running(change: { $0.wire.outboundBytesMax = 2_000 }) { server in
            let bob = try await TestClient.welcomed(server, as: "bob", 2)
            let ann = try await TestClient.welcomed(server, as: "ann", 1)
            for number in Int64(1)...20 {
                try await ann.push(from: number, Sample.profile(100 + UInt64(number), name: "someone"))
                _ = try await ann.settled(through: number)
            }
            var frames: [Changes] = []
            while frames.last?.isConsistent != true || frames.flatMap(\.records).count < 20 {
                frames.append(try await bob.changes())
            }
            #expect(frames.flatMap(\.records).map(\.seq) == Array(1...20))
            for id in Int64(1)...4 {
                let page = PageRequest(id: id, scope: ScopeID("directory"), since: 0, collection: "users", limit: 20)
                try await bob.send(.page(page))
            }
            for _ in 1...4 {
                guard case .page(let page) = try await bob.next() else { throw WireError("no page") }
                #expect(page.changes.count == 20)
            }
        }
    }

    @Test func `a push on a connection that a call has overtaken closes it with 4409`() async throws {
        try await TestServer.running { server in
            let ann = try await TestClient.welcomed(server, as: "ann", 1)
            let push = Push(first: 1, ackedThrough: 0, entries: [Push.Entry(Sample.profile(10))])
            let call = PushCall(client: Sample.id(1), connection: 2, push: push)
            let body = String(decoding: call.encode(), as: UTF8.self)
            #expect(try await server.post("/v1/push", as: "ann", body: body).status == 200)
            _ = try await ann.settled(through: 1)
            try await ann.push(from: 2, Sample.profile(11))
            #expect(try await ann.closeCode() == 4409)
        }
    }
}
