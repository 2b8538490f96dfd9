import Testing
import TidemarkModel
import TidemarkWire

/// Many pages that are requested at once.
@Suite struct ReadQueueTests {
    private func request(_ id: Int64) -> ClientMessage {
        .page(PageRequest(id: id, scope: OneSession.wall, since: 0, collection: "posts", limit: 9))
    }

    private func answers(_ session: OneSession) -> [Int64] {
        session.sent.compactMap { if case .page(let page) = $0 { page.id } else { nil } }
    }

    private func refusals(_ session: OneSession) -> [ErrorCode] {
        session.sent.compactMap { if case .error(let error) = $0 { error.code } else { nil } }
    }

    @Test func `a few of them are read at once, the others in their order, and none is refused`() throws {
        var session = try OneSession(tail: 5)
        session.connect(from: 5, snapshot: 5)
        for id in 1...10 as ClosedRange<Int64> { session.say(request(id)) }
        #expect(session.pages.map(\.id) == [1, 2, 3, 4])
        session.answerPage(OneSession.post(3))
        #expect(session.pages.map(\.id) == [2, 3, 4, 5])
        for _ in 0..<9 { session.answerPage(OneSession.post(3)) }
        #expect(answers(session) == Array(1...10) && refusals(session).isEmpty && session.pages.isEmpty)
    }

    @Test func `more than are advertised are refused, until one of them is answered`() throws {
        var session = try OneSession(tail: 5) { $0.pagesInFlightMax = 6 }
        session.connect(from: 5, snapshot: 5)
        for id in 1...7 as ClosedRange<Int64> { session.say(request(id)) }
        #expect(refusals(session) == [.overloaded])
        session.answerPage(OneSession.post(3))
        session.say(request(8))
        #expect(refusals(session).count == 1)
        for _ in 0..<6 { session.answerPage(OneSession.post(3)) }
        #expect(answers(session) == [1, 2, 3, 4, 5, 6, 8])
    }
}
