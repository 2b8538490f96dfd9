import Testing
import TidemarkHub
import TidemarkModel
import TidemarkStore
import TidemarkWire

/// R-70 at the server: an answer consists of pages, each of the state in which it was read.
@Suite struct SessionCompareTests {
    private static let scope = ScopeID("wall")

    private func record(_ born: SequenceNumber, _ body: String = "{}", seq: SequenceNumber? = nil) -> StoredRecord {
        StoredRecord(
            key: RecordKey(collection: "posts", id: UniqueID(high: 1, low: UInt64(born))), scope: Self.scope,
            seq: seq ?? born, born: born, isDeleted: false, author: UserID("ann"), created: 1, updated: 1,
            body: Array(body.utf8))
    }

    private func page(_ births: [SequenceNumber], at: SequenceNumber, isLast: Bool = false) -> Page {
        Page(records: births.map { record($0) }, at: Head(seq: at, nonce: 1, time: 1, epoch: 1), isLast: isLast)
    }

    private static func comparison(
        from: SequenceNumber = 0, before: SequenceNumber? = nil, lists: Bool = false
    ) -> Comparison {
        Comparison(
            CompareRequest(
                id: 7, scope: scope, since: 0, collection: "posts", from: from, before: before,
                lists: lists), rowsMax: 3)
    }

    private func answer(_ comparison: Comparison) throws -> CompareAnswer {
        guard case .compared(let answer) = try ServerMessage.decode(comparison.bytes) else { throw CancellationError() }
        return answer
    }

    @Test func `each page is a part, down to the last of the client's records`() throws {
        var comparison = Self.comparison(from: 4)
        #expect(comparison.next?.before == nil && comparison.next?.limit == 3)
        _ = comparison.read(page([90, 80, 70], at: 100), after: nil)
        #expect(comparison.next?.before == 70)
        _ = comparison.read(page([60, 4, 3], at: 105), after: nil)
        #expect(comparison.next == nil && comparison.at == 105)
        let answer = try answer(comparison)
        #expect(answer.parts.map(\.low) == [70, 4] && answer.parts.map(\.at) == [100, 105])
        #expect(answer.parts.map(\.digest.count) == [3, 2] && answer.next == nil)
        #expect(answer.answers(comparison.request))
    }

    @Test func `an answer has ten parts, and says where to continue`() throws {
        var comparison = Self.comparison()
        var born: SequenceNumber = 1_000
        while comparison.next != nil {
            _ = comparison.read(page([born - 1, born - 2, born - 3], at: 1_000), after: nil)
            born -= 3
        }
        let answer = try answer(comparison)
        #expect(answer.parts.count == 10 && answer.next == 970 && answer.answers(comparison.request))
    }

    @Test func `a collection without records has one part without any`() throws {
        var comparison = Self.comparison()
        _ = comparison.read(page([], at: 5, isLast: true), after: nil)
        let answer = try answer(comparison)
        #expect(answer.parts == [.init(low: 0, at: 5, digest: RecordDigest())] && answer.answers(comparison.request))
    }

    @Test func `a list names the records of one part, with the values that their digest is made of`() throws {
        var comparison = Self.comparison(lists: true)
        _ = comparison.read(page([9, 8, 7], at: 10), after: nil)
        let answer = try answer(comparison)
        #expect(comparison.next == nil && answer.next == 7)
        #expect(answer.marks?.map(\.born) == [9, 8, 7])
        var digest = RecordDigest()
        for mark in try #require(answer.marks) { digest.insert(mark.term) }
        #expect(digest == answer.parts[0].digest && answer.answers(comparison.request))
    }

    @Test func `a database that went back is not compared with a client that has seen more`() throws {
        let head = Head(seq: 100, nonce: 2, time: 1, epoch: 1)
        var (equal, before, behind) = (Self.comparison(), Self.comparison(), Self.comparison())
        let answers = [
            equal.read(page([9], at: 100), after: head), before.read(page([9], at: 99), after: head),
            behind.read(page([9], at: 101), after: head),
        ]
        #expect(answers == [false, false, true])
    }

    @Test func `a client without such a grant, or that asks for too much at once, is refused`() throws {
        var seat = try Seat()
        _ = seat.heard()
        func ask(_ id: Int64, since: SequenceNumber) -> ClientMessage {
            .compare(
                CompareRequest(
                    id: id, scope: OneSession.wall, since: since, collection: "posts", from: 0, lists: false))
        }
        func codes(_ messages: [ServerMessage]) -> [ErrorCode] {
            messages.compactMap { if case .error(let error) = $0 { error.code } else { nil } }
        }
        seat.say(ask(1, since: 99))
        #expect(codes(seat.heard()) == [.forbidden])
        for id in 0...Int64(WireLimits().pagesInFlightMax) { seat.say(ask(id + 2, since: 0)) }
        #expect(codes(seat.heard()) == [.overloaded])
    }
}
