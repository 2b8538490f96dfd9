import Testing
import TidemarkWire

/// The one budget for everything that a session writes to its socket.
@Suite struct OutboundTests {
    @Test func `pages wait while the socket is full`() throws {
        var seat = try Seat()
        for id in Int64(1)...4 { seat.askForPage(id) }
        seat.answerPage(bytes: 100)
        #expect(Self.pages(seat.heard()) == [1])
        seat.socket(isWritable: false)
        for _ in 2...4 { seat.answerPage(bytes: 100) }
        #expect(seat.heard().isEmpty)
        seat.socket(isWritable: true)
        #expect(Self.pages(seat.heard()) == [2, 3, 4])
    }

    @Test func `pages that are ready at once are sent up to the budget, and the rest when there is room`() throws {
        var seat = try Seat { $0.outboundBytesMax = 1_000 }
        for id in Int64(1)...4 { seat.askForPage(id) }
        seat.socket(isWritable: false)
        for _ in 1...4 { seat.answerPage(bytes: 400) }
        seat.socket(isWritable: true)
        #expect(Self.pages(seat.heard()) == [1, 2])
        #expect(seat.awaitsRoom)
        seat.socket(isWritable: true)
        #expect(Self.pages(seat.heard()) == [3, 4])
    }

    @Test func `a catch-up from memory respects the budget, whatever the window allows`() throws {
        var seat = try Seat {
            $0.outboundBytesMax = 10_000
            $0.windowBytesMax = 10_000_000
        }
        seat.socket(isWritable: false)
        for _ in 0..<100 { seat.commit(bytes: 1_000) }
        var rows = 0
        for turn in 0..<100 where rows < 100 {
            let before = seat.bytesSent
            seat.socket(isWritable: true)
            // One frame may exceed the edge.
            #expect(seat.bytesSent - before < 10_000 + 2_000, "turn \(turn)")
            rows += Self.rows(seat.heard())
        }
        #expect(rows == 100)
    }

    @Test func `a socket that accepts all messages stays live`() throws {
        var seat = try Seat { $0.outboundBytesMax = 10_000 }
        for _ in 0..<100 {
            seat.commit(bytes: 1_000)
            if seat.awaitsRoom { seat.socket(isWritable: true) }
            guard case .changes(let changes)? = seat.heard().first else { throw WireError("no frame") }
            #expect(changes.isLive)
        }
    }

    @Test func `a client that cannot acknowledge because its socket is not read gets time once it is`() throws {
        var seat = try Seat()
        seat.commit(bytes: 10)
        seat.socket(isWritable: false)
        seat.pass(100_000)
        #expect(seat.closed == nil)
        seat.socket(isWritable: true)
        seat.pass(59_999)
        #expect(seat.closed == nil)
        seat.pass(1)
        #expect(seat.closed == .timeout)
    }

    private static func pages(_ messages: [ServerMessage]) -> [Int64] {
        messages.compactMap { if case .page(let page) = $0 { page.id } else { nil } }
    }

    private static func rows(_ messages: [ServerMessage]) -> Int {
        messages.reduce(0) { count, message in
            guard case .changes(let changes) = message else { return count }
            return count + changes.groups.reduce(0) { $0 + $1.changes.count }
        }
    }
}
