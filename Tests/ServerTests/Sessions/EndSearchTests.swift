import Testing
import TidemarkModel
import TidemarkStore

/// The number to which a client goes back if its cursor is in a lost part of the order.
@Suite struct EndSearchTests {
    private func head(_ seq: SequenceNumber, _ nonce: UInt64? = nil) -> Head {
        Head(seq: seq, nonce: nonce ?? UInt64(seq), time: 0, epoch: 1)
    }

    /// Searches a stored order with batches of ten numbers through 100; beyond 60 they are of another history than the
    /// ends.
    private func search(_ ends: [Head], horizon: SequenceNumber = 0) -> (end: Head?, reads: Int) {
        var search = EndSearch(among: ends, head: head(100), horizon: horizon)
        var reads = 0
        while let seq = search.lookup, reads < 100 {
            reads += 1
            let last = (seq + 9) / 10 * 10
            search.found(last > 100 ? nil : head(last, last > 60 ? 999 : UInt64(last)))
        }
        return (search.end, reads)
    }

    @Test func `the newest end of the stored history is found`() {
        let ends = [120, 90, 70, 60, 50, 20].map { head($0) }
        #expect(search(ends).end == head(60))
        #expect(search(ends.reversed()).end == head(60), "in whatever order they come")
        #expect(search([head(70)]).end == nil)
        #expect(search([]).end == nil)
        #expect(search([head(0, 0), head(70)]).end == head(0, 0), "the beginning is of every history")
    }

    @Test func `an end within a batch matches, and one with another nonce does not`() {
        #expect(search([head(55, 60)]).end == head(55, 60))
        #expect(search([head(50, 7)]).end == nil)
    }

    @Test func `ends behind the horizon are ignored`() {
        let ends = [90, 60, 50].map { head($0) }
        #expect(search(ends, horizon: 60).end == head(60))
        #expect(search(ends, horizon: 61).end == nil)
    }

    @Test func `it takes five reads of one row, whatever a client sends`() {
        let ends = (1...24).map { head($0 * 4, UInt64(($0 * 4 + 9) / 10 * 10)) }
        let found = search(ends)
        #expect(found.end?.seq == 60 && found.reads <= 5)
        #expect(search((1...24).map { head(90 + $0 % 2, 1) }).reads <= 5)
    }
}
