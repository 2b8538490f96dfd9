import Testing
import TidemarkSequencer
import TidemarkWire

/// The bound on pushes in flight.
@Suite struct PushCountTests {
    @Test(arguments: [1, 3, 10])
    func `a client that keeps the allowed number of pushes in flight is never refused`(batch: Int) throws {
        var seat = try Seat()
        let width = WireLimits().pushesInFlightMax
        for _ in 0..<width { seat.push() }
        for round in 0..<2_000 {
            // The client reads the frame, and answers with its next pushes, before the sequencer's outcome reaches the
            // session.
            seat.commit(settling: batch)
            let heard = seat.heard()
            try #require(heard.count == 1, "round \(round): \(heard)")
            for _ in 0..<batch { seat.push() }
            try #require(seat.heard().isEmpty, "round \(round)")
            for _ in 0..<batch { seat.decide(.settled(through: 0, results: [])) }
        }
        #expect(seat.submitted.count == width)
    }

    @Test func `one push more than is allowed is refused, before and after a frame`() throws {
        var seat = try Seat { $0.pushesInFlightMax = 2 }
        for _ in 0..<3 { seat.push() }
        #expect(Self.refusals(seat.heard()) == [.overloaded])
        seat.commit(settling: 1)
        _ = seat.heard()
        for _ in 0..<2 { seat.push() }
        #expect(Self.refusals(seat.heard()) == [.overloaded])
    }

    @Test(arguments: [PushOutcome.overloaded, .unavailable, .gap(settledThrough: 0)])
    func `a push that is given back is no longer in flight`(outcome: PushOutcome) throws {
        var seat = try Seat()
        let width = WireLimits().pushesInFlightMax
        for _ in 0..<3 {
            for _ in 0..<width { seat.push() }
            #expect(seat.submitted.count == width)
            for _ in 0..<width { seat.decide(outcome) }
            #expect(Self.refusals(seat.heard()).count == width)
        }
    }

    /// Five of thirty pushes are accepted: the others are too far ahead, or too many in a second.
    @Test(arguments: [ErrorCode.overloaded, .rateLimited])
    func `a push that is refused at once is not in flight`(code: ErrorCode) throws {
        var seat = try Seat { limits in
            if code == .overloaded {
                limits.outcomesKeptMax = 5
            } else {
                (limits.transactionsPerSecond, limits.transactionsBurst) = (1, 5)
            }
        }
        for _ in 0..<30 { seat.push() }
        #expect(Self.refusals(seat.heard()) == Array(repeating: code, count: 25))
        seat.commit(settling: 5)
        for _ in 0..<5 { seat.decide(.settled(through: 5, results: [])) }
        _ = seat.heard()
        seat.pass(10_000)
        seat.goBack()
        for _ in 0..<5 { seat.push() }
        #expect(Self.refusals(seat.heard()).isEmpty)
        #expect(seat.submitted.count == 5)
    }

    @Test func `a push that a later connection has overtaken closes its connection`() throws {
        var seat = try Seat()
        seat.push()
        seat.decide(.stale)
        #expect(seat.closed == .connectedElsewhere)
    }

    private static func refusals(_ messages: [ServerMessage]) -> [ErrorCode] {
        messages.compactMap { if case .error(let error) = $0 { error.code } else { nil } }
    }
}
