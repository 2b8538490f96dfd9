import Testing
import TidemarkModel
import TidemarkWire

@testable import Tidemark

/// the machine's requests by ids, and the answers that it accepts.
@Suite struct RefetchTests {
    private static let ids = (1...3).map { RecordKey.note($0).id }

    /// A connected machine that has requested three records.
    private func asked() throws -> (bench: MachineBench, request: PageRequest) {
        var bench = MachineBench()
        bench.unfilled = [
            PageRequest(id: 0, scope: ScopeID("a"), since: 1, collection: "notes", limit: 3, ids: Self.ids)
        ]
        bench.on(.start)
        bench.connect()
        bench.settle(0)
        let requests = bench.sent.compactMap { if case .page(let request) = $0 { request } else { nil } }
        return (bench, try #require(requests.only))
    }

    private func answer(_ request: PageRequest, next: Int64?) -> ServerMessage {
        .page(
            PageAnswer(
                id: request.id, scope: request.scope, since: request.since, collection: request.collection, changes: [],
                next: next))
    }

    @Test func `a device says that it can go back, and requests records by their ids until they have arrived`() throws {
        var (bench, request) = try asked()
        guard case .hello(let hello)? = bench.sent.first else { throw WireError("no hello") }
        #expect(hello.ends == [])
        #expect(request.ids == Self.ids && bench.phases.last == .catchingUp)
        bench.receive(answer(request, next: 2))
        #expect(bench.applied == 3 && bench.closings == 0 && bench.phases.last == .live)
    }

    @Test func `an answer to none of the ids, or to more than were requested, violates the protocol`() throws {
        for next in [0, 3, 4, 1 << 40] as [Int64] {
            var (bench, request) = try asked()
            bench.receive(answer(request, next: next))
            #expect(bench.closings == 1 && bench.failures == [.protocolViolation], "\(next)")
        }
    }
}

extension Collection {
    fileprivate var only: Element? { count == 1 ? first : nil }
}
