import Testing
import TidemarkModel
import TidemarkWire

@testable import Tidemark

/// the times at which a copy is compared, and the requests.
@Suite struct CompareLaneTests {
    private func request(before: SequenceNumber? = nil, lists: Bool = false) -> CompareRequest {
        CompareRequest(
            id: 0, scope: ScopeID("a"), since: 1, collection: "notes", from: 0, before: before, lists: lists)
    }

    private func live(_ requests: [CompareRequest], state: Welcome.CursorState = .none) -> MachineBench {
        var bench = MachineBench()
        bench.uncompared = requests
        bench.isBehind = state == .behind
        bench.on(.start)
        bench.connect(state: state)
        bench.settle(0)
        return bench
    }

    private func asked(_ bench: MachineBench) -> [CompareRequest] {
        bench.sent.compactMap { if case .compare(let request) = $0 { request } else { nil } }
    }

    private func answer(
        to request: CompareRequest, low: SequenceNumber = 0, next: SequenceNumber? = nil
    ) -> ServerMessage {
        .compared(
            CompareAnswer(
                id: request.id, scope: request.scope, since: request.since, collection: request.collection,
                parts: [.init(low: low, at: 5, digest: RecordDigest())],
                marks: request.lists ? [] : nil, next: next))
    }

    @Test func `a live copy is examined once, and again after ten minutes`() {
        var bench = live([])
        #expect(bench.comparisons == [false])
        bench.pass(300_000)
        #expect(bench.comparisons == [false])
        bench.pass(400_000)
        #expect(bench.comparisons == [false, false])
    }

    @Test func `one request is sent after the other, and the next with the answer`() throws {
        var bench = live([request(), request(before: 40, lists: true)])
        #expect(asked(bench).count == 1)
        bench.receive(answer(to: try #require(asked(bench).last)))
        #expect(asked(bench).map(\.before) == [nil, 40])
        bench.receive(answer(to: try #require(asked(bench).last)))
        #expect(asked(bench).count == 2)
        #expect(bench.comparisons.count == 3)
    }

    @Test func `a comparison requested by the app begins at once, or with the next connection`() {
        var bench = live([])
        bench.on(.compare)
        #expect(bench.comparisons == [false, true])
        bench.on(.closed(code: 1006, reason: "cut"))
        bench.on(.compare)
        bench.pass(60_000)
        bench.connect()
        #expect(bench.comparisons == [false, true])
        bench.settle(0)
        #expect(bench.comparisons == [false, true, true])
    }

    @Test(arguments: [Welcome.CursorState.resync, .ok]) func `a copy that has gone back is compared`(
        _ state: Welcome.CursorState
    ) {
        #expect(live([], state: state).comparisons == [state == .resync])
    }

    @Test func `pages have priority`() {
        var bench = MachineBench()
        bench.unfilled = [PageRequest(id: 0, scope: ScopeID("a"), since: 1, collection: "notes", limit: 5)]
        bench.on(.start)
        bench.connect()
        bench.settle(0)
        #expect(bench.comparisons.isEmpty)
        bench.receive(
            .page(PageAnswer(id: 1, scope: ScopeID("a"), since: 1, collection: "notes", changes: [], next: nil)))
        #expect(bench.comparisons == [false])
    }

    @Test func `refused requests are left out, and requests to a busy server wait`() throws {
        var bench = live([request(), request(before: 9)])
        let first = try #require(asked(bench).last)
        bench.receive(.error(ErrorMessage(.forbidden, "no", request: first.id)))
        #expect(bench.dropped.map(\.id) == [first.id])
        let second = try #require(asked(bench).last)
        #expect(second.before == 9)
        bench.receive(.error(ErrorMessage(.overloaded, "busy", request: second.id, retryAfter: 50)))
        bench.pass(20_000)
        #expect(bench.comparisons.count == 2)
        bench.pass(60_000)
        #expect(bench.comparisons.count == 3)
        #expect(bench.dropped.count == 1)
    }

    @Test func `an answer that does not cover the request ends the connection`() throws {
        for (low, next) in [(SequenceNumber(3), SequenceNumber?.none), (0, 7), (50, 50), (3, 4)] {
            var bench = live([request(before: 50)])
            let closings = bench.closings
            bench.receive(answer(to: try #require(asked(bench).last), low: low, next: next))
            #expect(bench.closings == closings + 1, "low \(low) next \(next ?? -1)")
            #expect(bench.failures.last == .protocolViolation)
        }
        var bench = live([request(before: 50)])
        bench.receive(answer(to: try #require(asked(bench).last), low: 3, next: 3))
        #expect(bench.failures.isEmpty)
    }

    @Test func `a copy from below the horizon is not live before it has been compared`() throws {
        var bench = live([request()], state: .behind)
        #expect(bench.phases.last == .catchingUp)
        bench.on(.sync(round: 1))
        #expect(bench.ended.isEmpty)
        bench.receive(answer(to: try #require(asked(bench).last)))
        #expect(bench.phases.last == .catchingUp && bench.comparisons.count == 2)
        bench.isBehind = false
        bench.pass(1_000)
        #expect(bench.phases.last == .live && bench.ended == [1])
        #expect(bench.comparisons.count == 3)
    }

    @Test func `a copy from below the horizon is compared at once, though it was examined a moment ago`() {
        var bench = live([])
        bench.on(.stop)
        bench.uncompared = [request()]
        bench.isBehind = true
        bench.on(.start)
        bench.connect(state: .behind)
        bench.settle(0)
        #expect(asked(bench).count == 1)
    }

    @Test func `an interrupted comparison continues at once with the next connection`() throws {
        var bench = live([request(), request()], state: .behind)
        #expect(asked(bench).count == 1)
        bench.on(.closed(code: 1006, reason: "cut"))
        bench.pass(60_000)
        bench.connect(state: .ok, isBehind: true)
        bench.settle(0)
        #expect(asked(bench).count == 2)
        #expect(bench.phases.last == .catchingUp)
    }

    @Test func `a difference is reported once, and after a cut with the next one`() throws {
        func told(_ bench: MachineBench) -> [Int64] {
            bench.sent.compactMap { if case .ack(let ack) = $0, ack.diverged > 0 { ack.diverged } else { nil } }
        }
        var bench = live([request(lists: true), request(lists: true), request(lists: true)])
        bench.wrong = 3
        bench.receive(answer(to: try #require(asked(bench).last)))
        #expect(told(bench) == [3])
        bench.wrong = 0
        bench.receive(answer(to: try #require(asked(bench).last)))
        #expect(told(bench) == [3])
        bench.on(.closed(code: 1006, reason: "cut"))
        bench.on(.compared(wrong: 4))
        #expect(told(bench) == [3])
        bench.pass(60_000)
        bench.connect()
        bench.settle(0)
        bench.wrong = 1
        bench.uncompared = [request(lists: true)]
        bench.on(.compare)
        bench.receive(answer(to: try #require(asked(bench).last)))
        #expect(told(bench) == [3, 5])
    }
}
