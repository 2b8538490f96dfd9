import Testing
import TidemarkHub
import TidemarkModel
import TidemarkStore
import TidemarkWire

@Suite struct StreamTests {
    // MARK: Catch-up

    @Test func `a catch-up settles transactions with its last frame, after the rows`() throws {
        var one = try OneSession(tail: 20)
        one.connect(from: 10, snapshot: 20, settled: 3, results: OneSession.results(3, at: 18))
        #expect(one.windows.map(\.after) == [10])
        one.answer([OneSession.post(12)], through: 15, state: 20)
        one.answer([OneSession.post(18)], through: 20, state: 20)
        #expect(one.story == ["15+12", "20+18", "20 done you 3"])
    }

    @Test func `a catch-up whose reads saw a later state is whole, and settles transactions, only at that state`()
        throws
    {
        var one = try OneSession(tail: 20)
        one.connect(from: 10, snapshot: 20, settled: 3, results: OneSession.results(3, at: 18))
        // The client's own record moved from number 18 to 25 before this read: it is missing here.
        one.answer([OneSession.post(12)], through: 20, state: 25)
        #expect(one.story == ["20+12", "20"])
        one.commit([], to: 22)
        #expect(one.story.count == 2, "what concerns nobody here is no reason to say anything")
        one.commit([OneSession.post(25)], to: 25)
        #expect(one.story == ["20+12", "20", "25+25 done you 3"])
        one.commit([OneSession.post(26)], to: 26)
        #expect(one.story.last == "26+26 done")
    }

    @Test func `a session that arrives behind the tail is brought up to it before the copy is called whole`() throws {
        var one = try OneSession(tail: 20)
        one.commit([OneSession.post(21)], to: 21)
        one.commit([OneSession.post(22)], to: 22, settling: OneSession.results(4, at: 22))
        one.connect(from: 10, snapshot: 20, settled: 3, results: OneSession.results(3, at: 18))
        one.answer([OneSession.post(18)], through: 20, state: 20)
        #expect(one.story == ["20+18", "20", "21+21", "22+22 done you 4"])
        #expect(one.frames.last?.settled?.outcomes.map(\.number) == [3, 4])
    }

    @Test func `a catch-up without rows at the end is whole once the order has reached the state of its reads`() throws
    {
        var one = try OneSession(tail: 20)
        one.connect(from: 10, snapshot: 20, settled: 3, results: OneSession.results(3, at: 18))
        one.answer([], through: 20, state: 25)
        #expect(one.story == ["20"])
        one.commit([OneSession.post(25, in: ScopeID("elsewhere"))], to: 25)
        #expect(one.story == ["20", "25 done you 3"])
    }

    @Test func `a frame that ends at the tail is not whole while the reads before it saw a later state`() throws {
        var one = try OneSession(tail: 20)
        one.connect(from: 10, snapshot: 20)
        one.answer([OneSession.post(12)], through: 20, state: 25)
        one.commit([OneSession.post(22)], to: 22)
        #expect(one.story == ["20+12", "20", "22+22"])
        one.commit([OneSession.post(25)], to: 25)
        #expect(one.story.last == "25+25 done you 0")
    }

    @Test func `a session that had no room for a batch continues after the last one that was sent`() throws {
        var one = try OneSession(tail: 20)
        one.connect(from: 20, snapshot: 20)
        for seq in 21...1_100 as ClosedRange<SequenceNumber> { one.commit([OneSession.post(seq)], to: seq) }
        #expect(one.story.count == 1_000 && one.story.last == "1019+1019 done")
        one.say(.ack(Ack(frames: 1_000)))
        #expect(one.closed == nil && one.story.count == 1_081)
        #expect(one.story.last == "1100+1100 done")
        #expect(zip(one.frames, one.frames.dropFirst()).allSatisfy { $0.cursor == $1.from })
    }

    // MARK: Quiet connections

    @Test func `a quiet connection is told how far the order has moved, every ten seconds`() throws {
        var one = try OneSession(tail: 20)
        one.connect(from: 20, snapshot: 20)
        one.say(.ack(Ack(frames: 1)))
        one.pass(seconds: 60)
        #expect(one.story == ["20 done you 0"], "nothing has moved")
        one.commit([OneSession.post(21, in: ScopeID("elsewhere"))], to: 21)
        one.pass(seconds: 1)
        one.say(.ack(Ack(frames: Int64(one.frames.count))))
        #expect(one.story.last == "21 done")
        one.commit([OneSession.post(22, in: ScopeID("elsewhere"))], to: 22)
        one.pass(seconds: 9)
        #expect(one.story.last == "21 done")
        one.pass(seconds: 1)
        #expect(one.story.last == "22 done" && one.frames.last?.isLive == true)
        #expect(one.frames.last?.groups.isEmpty == true)
    }

    @Test func `a quiet connection is told at once when the order has moved by a thousand numbers`() throws {
        var one = try OneSession(tail: 20)
        one.connect(from: 20, snapshot: 20)
        one.commit([OneSession.post(1_018, in: ScopeID("elsewhere"))], to: 1_018)
        one.pass(seconds: 1)
        #expect(one.story.last == "20 done you 0")
        one.commit([OneSession.post(1_020, in: ScopeID("elsewhere"))], to: 1_020)
        one.pass(seconds: 1)
        #expect(one.story.last == "1020 done")
    }

    // MARK: The end of the client

    @Test func `the batch that removes a client ends its connection, and no other`() throws {
        var one = try OneSession(tail: 20)
        one.connect(from: 20, snapshot: 20)
        one.commit([], to: 21, removing: [UniqueID(high: 9, low: 9)])
        #expect(one.closed == nil)
        one.commit([], to: 22, removing: [OneSession.client])
        #expect(one.closed == .clientUnknown)
    }

    // MARK: The end of the token

    @Test func `a connection lives as long as its token is accepted, and is sent the token's own end`() throws {
        var one = try OneSession(tail: 20, expires: -30_000, acceptedUntil: 30_000)
        let start = one.now
        one.connect(from: 20, snapshot: 20)
        guard case .welcome(let welcome)? = one.sent.first else {
            Issue.record("\(one.sent)")
            return
        }
        #expect(welcome.tokenExpires == start - 30_000)
        one.pass(seconds: 29)
        #expect(one.closed == nil)
        one.pass(seconds: 1)
        #expect(one.closed == .unauthenticated)
    }
}
