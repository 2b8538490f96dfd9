import Testing
import TidemarkHub
import TidemarkModel
import TidemarkStore
import TidemarkWire

/// The database went back while a session was catching up, and this process does not know it yet, or the read does not.
@Suite struct LostHistoryTests {
    /// The end of a batch in a history that was replaced.
    private func lost(_ seq: SequenceNumber) -> Head { Head(seq: seq, nonce: 999, time: seq, epoch: 1) }

    @Test func `a stretch based on another history ends the connection, and nothing of it is sent`() throws {
        var one = try OneSession(tail: 20)
        one.connect(from: 10, snapshot: 20)
        one.answer([OneSession.post(12)], through: 15, state: 20, base: lost(10))
        #expect(one.closed == .goingAway && one.story.isEmpty)
    }

    @Test func `a second stretch must follow the first`() throws {
        var one = try OneSession(tail: 20)
        one.connect(from: 10, snapshot: 20)
        one.answer([OneSession.post(12)], through: 15, state: 20)
        #expect(one.windows.map(\.after) == [10, 15] && one.closed == nil)
        one.answer([OneSession.post(18)], through: 20, state: 20, base: lost(15))
        #expect(one.closed == .goingAway && one.story == ["15+12"])
    }

    @Test func `a cursor in the middle of catching up names the state that was read, and its proof is requested`()
        throws
    {
        var one = try OneSession(tail: 20)
        one.connect(from: 10, snapshot: 20)
        one.answer([OneSession.post(12)], through: 15, state: 25)
        one.answer([OneSession.post(18)], through: 20, state: 22)
        one.commit([OneSession.post(24)], to: 24)
        one.commit([OneSession.post(25)], to: 25)
        one.commit([OneSession.post(26)], to: 26)
        let places = one.frames.compactMap { one.read($0.cursor) }
        #expect(places.map(\.head.seq) == [15, 20, 20, 24, 25, 26], "\(one.story)")
        // This process may deliver a lost order, and the reads may be of another one: delivered frames have their own
        // position.
        #expect(places.map { $0.looked?.seq } == [25, 25, nil, nil, nil, nil])
        #expect(zip(one.frames, one.frames.dropFirst()).allSatisfy { $0.cursor == $1.from })
        // A client that returns with one is looked up at that state.
        var next = try OneSession(tail: 30)
        next.connect(with: one.frames[0].cursor)
        #expect(next.loads.first?.lineage == 25 && next.loads.first?.place?.nonce == 25)
    }

    @Test func `stretches that do not end at the snapshot's batch are not called whole, and settle nothing`() throws {
        for tail in [15, 20] as [SequenceNumber] {
            var one = try OneSession(tail: tail)
            one.connect(from: 10, snapshot: 20, settled: 3, results: OneSession.results(3, at: 18))
            one.answer([OneSession.post(12)], through: 20, state: 20, end: lost(20))
            #expect(one.closed == .goingAway && one.story == ["20+12"])
        }
    }

    @Test func `a snapshot of a history other than the delivered one ends the connection`() throws {
        var one = try OneSession(tail: 20)
        one.connect(from: nil, snapshot: 20, end: lost(20))
        #expect(one.closed == .goingAway && one.story.isEmpty)
        var ahead = try OneSession(tail: 20)
        ahead.connect(from: nil, snapshot: 21, end: lost(21))
        #expect(ahead.closed == nil, "what is delivered here has not come so far")
        ahead.commit([OneSession.post(21)], to: 21)
        #expect(ahead.closed == .goingAway)
    }

    @Test func `a session that fell behind continues from a snapshot of its own history only`() throws {
        for (lineage, closed) in [(OneSession.head(20), nil), (lost(20), CloseCode.goingAway), (nil, .goingAway)] {
            var one = try OneSession(tail: 20)
            one.connect(from: 20, snapshot: 20)
            one.miss(upTo: 25)
            #expect(one.loads.last?.lineage == 20)
            one.answerAgain(snapshot: 25, lineage: lineage)
            #expect(one.closed == closed)
        }
    }

    @Test func `a session that fell behind the horizon is closed, and the client fills its scopes anew`() throws {
        for (horizon, closed) in [(20, nil), (21, CloseCode.goingAway)] as [(SequenceNumber, CloseCode?)] {
            var one = try OneSession(tail: 20)
            one.connect(from: 20, snapshot: 20)
            one.miss(upTo: 25)
            one.answerAgain(snapshot: 25, lineage: OneSession.head(20), horizon: horizon)
            #expect(one.closed == closed)
        }
    }
}
