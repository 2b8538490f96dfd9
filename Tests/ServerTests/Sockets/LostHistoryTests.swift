import Testing
import TidemarkHub
import TidemarkModel
import TidemarkStore
import TidemarkWire

/// The database went back while a session was on its way, and this process does not know it yet, or the read does not.
@Suite struct LostHistoryTests {
    /// The end of a batch in the history that another one took the place of.
    private func lost(_ seq: SequenceNumber) -> Head { Head(seq: seq, nonce: 999, time: seq, epoch: 1) }

    @Test func `a stretch that stands on another history ends the connection, and nothing of it is told`() throws {
        var one = try OneSession(tail: 20)
        one.connect(from: 10, snapshot: 20)
        one.answer([OneSession.post(12)], through: 15, state: 20, base: lost(10))
        #expect(one.closed == .goingAway && one.story.isEmpty)
    }

    @Test func `a second stretch must stand on the first`() throws {
        var one = try OneSession(tail: 20)
        one.connect(from: 10, snapshot: 20)
        one.answer([OneSession.post(12)], through: 15, state: 20)
        #expect(one.windows.map(\.after) == [10, 15] && one.closed == nil)
        one.answer([OneSession.post(18)], through: 20, state: 20, base: lost(15))
        #expect(one.closed == .goingAway && one.story == ["15+12"])
    }

    @Test func `what is read in the middle says what was looked at, and its proof is asked for`()
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
        // What is delivered by this process may be of a lost order, and what was looked at of another: it says its own place.
        #expect(places.map { $0.looked?.seq } == [25, 25, nil, nil, nil, nil])
        #expect(zip(one.frames, one.frames.dropFirst()).allSatisfy { $0.cursor == $1.from })
        // Who comes again with one is looked up where that was.
        var next = try OneSession(tail: 30)
        next.connect(with: one.frames[0].cursor)
        #expect(next.loads.first?.lineage == 25 && next.loads.first?.place?.nonce == 25)
    }

    @Test func `stretches that end elsewhere than the snapshot are not called whole, and settle nothing`() throws {
        for tail in [15, 20] as [SequenceNumber] {
            var one = try OneSession(tail: tail)
            one.connect(from: 10, snapshot: 20, settled: 3, results: OneSession.results(3, at: 18))
            one.answer([OneSession.post(12)], through: 20, state: 20, end: lost(20))
            #expect(one.closed == .goingAway && one.story == ["20+12"])
        }
    }

    @Test func `a snapshot of another history than the one that is delivered here ends the connection`() throws {
        var one = try OneSession(tail: 20)
        one.connect(from: nil, snapshot: 20, end: lost(20))
        #expect(one.closed == .goingAway && one.story.isEmpty)
        var ahead = try OneSession(tail: 20)
        ahead.connect(from: nil, snapshot: 21, end: lost(21))
        #expect(ahead.closed == nil, "what is delivered here has not come so far")
        ahead.commit([OneSession.post(21)], to: 21)
        #expect(ahead.closed == .goingAway)
    }

    @Test func `who fell behind goes on from a snapshot of its own history only`() throws {
        for (lineage, closed) in [(OneSession.head(20), nil), (lost(20), CloseCode.goingAway), (nil, .goingAway)] {
            var one = try OneSession(tail: 20)
            one.connect(from: 20, snapshot: 20)
            one.miss(upTo: 25)
            #expect(one.loads.last?.lineage == 20)
            one.answerAgain(snapshot: 25, lineage: lineage)
            #expect(one.closed == closed)
        }
    }

    @Test func `who fell behind the horizon is closed, to come again and fill its scopes anew`() throws {
        for (horizon, closed) in [(20, nil), (21, CloseCode.goingAway)] as [(SequenceNumber, CloseCode?)] {
            var one = try OneSession(tail: 20)
            one.connect(from: 20, snapshot: 20)
            one.miss(upTo: 25)
            one.answerAgain(snapshot: 25, lineage: OneSession.head(20), horizon: horizon)
            #expect(one.closed == closed)
        }
    }
}
