import Testing
import TidemarkModel
import TidemarkWire

@testable import Tidemark

@Suite struct CollectionRoundTests {
    private func page(_ collection: String, in scope: String) -> PageRequest {
        PageRequest(id: 0, scope: ScopeID(scope), since: 1, collection: collection, before: nil, limit: 9)
    }

    private func asked(_ bench: MachineBench) -> [PageRequest] {
        bench.sent.compactMap { if case .page(let request) = $0 { request } else { nil } }
    }

    private func answer(_ request: PageRequest) -> ServerMessage {
        .page(
            PageAnswer(
                id: request.id, scope: request.scope, since: request.since, collection: request.collection, changes: [],
                next: nil))
    }

    @Test func `a round of a collection gets its pages first, and ends while others' pages are still to come`() {
        var bench = MachineBench()
        bench.unfilled = [
            page("notes", in: "a"), page("notes", in: "b"), page("orders", in: "a"), page("orders", in: "b"),
        ]
        bench.on(.start)
        bench.on(.syncCollection("orders", round: 1))
        bench.connect()
        #expect(asked(bench).map(\.collection) == ["orders", "orders"])
        bench.settle(0)
        for request in asked(bench) {
            #expect(bench.endedOf.isEmpty)
            bench.receive(answer(request))
        }
        #expect(bench.endedOf == ["orders 1"])
        #expect(bench.unfilled.map(\.collection) == ["notes", "notes"])
        #expect(asked(bench).map(\.collection) == ["orders", "orders", "notes", "notes"])
    }

    @Test func `it ends neither before waiting writes are settled nor before the copy is current`() {
        var bench = MachineBench()
        bench.outbox = [1]
        bench.on(.start)
        bench.on(.syncCollection("orders", round: 1))
        bench.connect()
        #expect(bench.pushes.count == 1)
        bench.settle(0)
        #expect(bench.endedOf.isEmpty)
        bench.settle(1)
        #expect(bench.endedOf == ["orders 1"])
        bench.outbox = [1, 2]
        bench.on(.syncCollection("orders", round: 2))
        bench.on(.syncCollection("orders", round: 3))
        #expect(bench.endedOf.count == 1)
        bench.settle(2)
        #expect(bench.endedOf == ["orders 1", "orders 3"], "the second joins the first")
        #expect(bench.ended.isEmpty)
    }

    @Test func `while the server limits sending it waits for the end of the pause`() {
        var bench = MachineBench()
        bench.outbox = [1]
        bench.on(.start)
        bench.connect()
        bench.settle(0)
        bench.receive(.error(ErrorMessage(.rateLimited, "slow down", retryAfter: 2_500, settledThrough: 0)))
        bench.on(.syncCollection("orders", round: 1))
        #expect(bench.endedOf.isEmpty && bench.pushes.count == 1)
        bench.pass(2_600)
        #expect(bench.endedOf.isEmpty && bench.pushes.count == 2)
        bench.settle(1)
        #expect(bench.endedOf == ["orders 1"])
    }

    @Test func `the database gives the collection's pages before those of shared scopes and newer grants`() throws {
        let bench = try Bench()
        _ = try bench.database.beginConnection()
        try bench.database.welcomed(
            .make(
                added: [("directory", 0), (RecordKey.room(1).scope.text, 3), (RecordKey.room(2).scope.text, 7)]
                    .map { .init(scope: ScopeID($0.0), since: $0.1, role: .member) }))
        #expect(try bench.database.nextPages(limit: 2).map(\.collection) == ["people", "rooms"])
        let first = try bench.database.nextPages(limit: 3, first: "notes")
        #expect(first.map(\.collection) == ["notes", "notes", "people"])
        #expect(first.map(\.since) == [7, 3, 0])
    }

    @Test func `of several collections the first request is first, and a lost connection ends all`() {
        var bench = MachineBench()
        bench.unfilled = ["people", "orders", "notes"].map { page($0, in: "a") }
        bench.on(.start)
        bench.on(.syncCollection("notes", round: 1))
        bench.on(.syncCollection("orders", round: 2))
        bench.connect()
        bench.settle(0)
        #expect(asked(bench).map(\.collection) == ["notes", "people"])
        bench.receive(answer(asked(bench)[0]))
        #expect(bench.endedOf == ["notes 1"])
        #expect(asked(bench).map(\.collection) == ["notes", "people", "orders"])
        bench.on(.closed(code: 1006, reason: "cut"))
        #expect(bench.endedOf == ["notes 1", "orders 2"])
        bench.on(.stop)
        bench.on(.syncCollection("orders", round: 3))
        #expect(bench.endedOf.last == "orders 3", "without a connection nothing can be done")
    }

    @Test func `a scope without pages from the server delays no round`() {
        var bench = MachineBench()
        bench.unfilled = [page("orders", in: "a")]
        bench.on(.start)
        bench.connect()
        bench.settle(0)
        bench.on(.syncCollection("orders", round: 1))
        #expect(bench.endedOf.isEmpty)
        bench.receive(.error(ErrorMessage(.forbidden, "not yours", request: asked(bench).last?.id)))
        #expect(bench.endedOf == ["orders 1"])
    }

    @Test func `a grant that arrives before the end is waited for too`() {
        var bench = MachineBench()
        bench.outbox = [1]
        bench.on(.start)
        bench.connect()
        bench.settle(0)
        bench.on(.syncCollection("orders", round: 1))
        bench.unfilled = [page("orders", in: "a")]
        bench.receive(
            .changes(
                .make(
                    from: "c1", to: "c2", [], settled: Settled(through: 1, outcomes: []),
                    grants: [.init(scope: ScopeID("a"), since: 1, role: .member)])))
        #expect(bench.endedOf.isEmpty)
        bench.receive(answer(asked(bench)[0]))
        #expect(bench.endedOf == ["orders 1"])
    }
}
