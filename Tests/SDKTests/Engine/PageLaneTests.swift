import Testing
import TidemarkModel
import TidemarkWire

@testable import Tidemark

/// Many small pages at once.
@Suite struct PageLaneTests {
    private func asked(_ bench: MachineBench) -> [PageRequest] {
        bench.sent.compactMap { if case .page(let request) = $0 { request } else { nil } }
    }

    private func answer(_ request: PageRequest, _ changes: [Change] = []) -> [UInt8] {
        ServerMessage.page(
            PageAnswer(
                id: request.id, scope: request.scope, since: request.since, collection: request.collection,
                changes: changes, next: nil)
        ).encode()
    }

    private func bench(_ count: Int) -> MachineBench {
        var bench = MachineBench(timing: EngineTiming())
        bench.unfilled = (0..<count).map { number in
            PageRequest(id: 0, scope: ScopeID("s\(number)"), since: 1, collection: "notes", limit: 9)
        }
        bench.on(.start)
        bench.connect()
        bench.settle(0)
        return bench
    }

    @Test func `small pages are requested by the hundred, with a look for each half of them`() {
        var bench = bench(2_000)
        var (answered, most) = (0, 0)
        let before = bench.looks
        while answered < asked(bench).count {
            let waiting = asked(bench).dropFirst(answered)
            most = max(most, waiting.count)
            // As many as a socket may deliver together.
            let some = waiting.prefix(50)
            answered += some.count
            bench.on(.arrived(some.map { answer($0) }))
        }
        #expect(answered == 2_000 && bench.unfilled.isEmpty)
        #expect(most == 256)
        #expect(bench.looks - before < 2_000 / 30, "\(bench.looks - before) looks")
        #expect(Set(asked(bench).map(\.scope)).count == 2_000, "none is asked for twice")
        #expect(bench.phases.last == .live)
    }

    @Test func `a copy is not up to date before missing pages were looked for, though all messages arrive at once`() {
        var bench = MachineBench(timing: EngineTiming())
        bench.unfilled = [PageRequest(id: 0, scope: ScopeID("a"), since: 1, collection: "notes", limit: 9)]
        bench.on(.start)
        bench.on(.opened(token: "t", start: MachineBench.start))
        let frame = Changes.make(from: "c0", to: "c1", [], settled: Settled(through: 0, outcomes: []))
        bench.on(.arrived([ServerMessage.welcome(.make()).encode(), ServerMessage.changes(frame).encode()]))
        #expect(asked(bench).count == 1 && !bench.phases.contains(.live))
        bench.on(.arrived([answer(asked(bench)[0])]))
        #expect(bench.phases.last == .live && bench.unfilled.isEmpty)
    }

    @Test func `few large pages are requested at once, so that an opened scope does not wait behind them`() {
        var bench = bench(200)
        let text = FieldValue.string(String(repeating: "x", count: 200_000))
        var answered = 0
        for _ in 0..<40 {
            let request = asked(bench)[answered]
            answered += 1
            bench.on(.arrived([answer(request, [.note(1, seq: 2, ["text": text])])]))
        }
        #expect(asked(bench).count - answered <= 2)
    }

    @Test func `pages that arrive together are one step for the disk`() {
        let requests = (1...3).map {
            PageRequest(id: $0, scope: ScopeID("a"), since: 1, collection: "c\($0)", limit: 9)
        }
        func page(_ index: Int) -> SyncEffect {
            let request = requests[index]
            let page = PageAnswer(
                id: request.id, scope: request.scope, since: 1, collection: request.collection, changes: [], next: nil)
            return .applyPages([(page, to: request)])
        }
        let gathered = SyncEffect.gathering([
            page(0), .send([]), page(1), .applyChanges([]), page(2), .confirm(settled: 1),
        ])
        let pages = gathered.map { if case .applyPages(let pages) = $0 { pages.map(\.0.id) } else { [Int64]() } }
        #expect(pages == [[1, 2], [], [], [3], []])
    }
}
