import Testing
import TidemarkHub
import TidemarkModel
import TidemarkStore

@Suite struct TailTests {
    private func head(_ seq: SequenceNumber) -> Head { Head(seq: seq, nonce: UInt64(seq), time: 1, epoch: 1) }

    private func batch(_ seq: SequenceNumber) -> CommittedBatch {
        CommittedBatch(low: seq, head: head(seq))
    }

    private func bodiless(_ seq: SequenceNumber) -> TailBatch { TailBatch(low: seq, head: head(seq), batch: nil) }

    /// Reads the store's batches after the tail's head, on the tail's own base.
    private func read(
        _ tail: inout Tail, _ batches: [TailBatch], isCommitting: Bool, isWhole: Bool = true
    ) -> Tail.Reading {
        let base = tail.head.seq > 0 ? tail.head : nil
        return tail.read(
            TailRead(base: base, batches: batches), from: tail.mark, isWhole: isWhole, isCommitting: isCommitting)
    }

    @Test func `an own batch that is read before its publication is emitted, not missed`() {
        var tail = Tail(head: head(1))
        #expect(read(&tail, [bodiless(2), bodiless(3)], isCommitting: true) == .outputs([]))
        #expect(tail.committed(batch(2)) == [.batch(batch(2))])
        #expect(tail.committed(batch(3)) == [.batch(batch(3))])
    }

    @Test func `a batch without a body is missed when this node commits nothing`() {
        var tail = Tail(head: head(1))
        #expect(
            read(&tail, [bodiless(2), bodiless(3)], isCommitting: false)
                == .outputs([.missed(head(2)), .missed(head(3))]))
        #expect(tail.head == head(3))
    }

    @Test func `a batch without a body is missed as soon as a later own one is published`() {
        var tail = Tail(head: head(1))
        #expect(read(&tail, [bodiless(2)], isCommitting: true) == .outputs([]))
        #expect(tail.committed(batch(3)) == [])
        #expect(
            read(&tail, [bodiless(2), bodiless(3)], isCommitting: true)
                == .outputs([.missed(head(2)), .batch(batch(3))]))
    }

    @Test func `another node's batch is emitted from the store while this node commits`() {
        var tail = Tail(head: head(1))
        let found = TailBatch(low: 2, head: head(2), batch: batch(2))
        #expect(read(&tail, [found, bodiless(3)], isCommitting: true) == .outputs([.batch(batch(2))]))
        #expect(tail.head == head(2))
    }
}
