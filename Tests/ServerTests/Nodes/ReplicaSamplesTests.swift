import Testing
import TidemarkModel
import TidemarkStore

@testable import TidemarkNode

/// The numbers that enough standbys have, by remembered positions of the log.
@Suite struct ReplicaSamplesTests {
    private static let workspace = WorkspaceID("w")

    private func head(_ seq: SequenceNumber, epoch: Epoch = 1) -> Head {
        Head(seq: seq, nonce: UInt64(seq), time: 1, epoch: epoch)
    }

    private func report(
        _ head: Head?, written: Int64, confirmed: Int64?, log: String = "7 00000001"
    ) -> ReplicaReport {
        ReplicaReport(
            log: log, written: written, confirmed: confirmed, heads: head.map { [Self.workspace: $0] } ?? [:])
    }

    private func through(_ samples: ReplicaSamples, _ head: Head) -> SequenceNumber {
        samples.through(head, in: Self.workspace)
    }

    @Test func `a number is safe once the log behind it is on enough standbys, and not before`() {
        var samples = ReplicaSamples()
        samples.take(report(head(5), written: 100, confirmed: 99))
        #expect(through(samples, head(5)) == 0)
        samples.take(report(head(9), written: 200, confirmed: 100))
        #expect(through(samples, head(9)) == 5)
        samples.take(report(head(9), written: 300, confirmed: 199))
        #expect(through(samples, head(9)) == 5)
        // The order does not move: the position that was read first is enough.
        samples.take(report(head(9), written: 400, confirmed: 200))
        #expect(through(samples, head(9)) == 9 && samples.waiting(in: Self.workspace) == 0)
    }

    @Test func `without enough standbys nothing more is safe, and safe numbers stay safe`() {
        var samples = ReplicaSamples()
        samples.take(report(head(5), written: 100, confirmed: nil))
        #expect(through(samples, head(5)) == 0)
        samples.take(report(head(5), written: 100, confirmed: 100))
        samples.take(report(head(8), written: 200, confirmed: nil))
        samples.take(report(head(8), written: 200, confirmed: 90))
        #expect(through(samples, head(8)) == 5)
    }

    @Test func `a promotion, or another database, begins anew`() {
        var samples = ReplicaSamples()
        samples.take(report(head(5), written: 100, confirmed: 100))
        samples.take(report(head(9), written: 200, confirmed: 100))
        // The new primary has written beyond the lost number 9, and its standby has less of that.
        samples.take(report(head(12), written: 260, confirmed: 250, log: "7 00000002"))
        #expect(through(samples, head(12)) == 0)
        samples.take(report(head(12), written: 270, confirmed: 260, log: "7 00000002"))
        #expect(through(samples, head(12)) == 12)
    }

    @Test func `in an order that went back, and in another epoch, remembered positions make nothing safe`() {
        var back = ReplicaSamples()
        back.take(report(head(9), written: 100, confirmed: 50))
        back.take(report(head(7), written: 200, confirmed: 100))
        #expect(through(back, head(7)) == 0 && through(back, head(12)) == 0)
        back.take(report(head(7), written: 300, confirmed: 200))
        #expect(through(back, head(7)) == 7)
        var epochs = ReplicaSamples()
        epochs.take(report(head(9), written: 100, confirmed: 100))
        #expect(through(epochs, head(9, epoch: 2)) == 0 && through(epochs, head(8)) == 0)
        epochs.take(report(head(10, epoch: 2), written: 200, confirmed: 100))
        #expect(through(epochs, head(10, epoch: 2)) == 0)
    }

    @Test func `while standbys are away few positions are remembered, the newest among them`() {
        var samples = ReplicaSamples()
        for number in 1...1_000 as ClosedRange<Int64> {
            samples.take(report(head(number), written: number * 10, confirmed: nil))
            #expect(samples.waiting(in: Self.workspace) <= ReplicaSamples.waitingMax)
        }
        samples.take(report(head(1_000), written: 10_000, confirmed: 5_005))
        let half = through(samples, head(1_000))
        #expect(half > 400 && half <= 500)
        samples.take(report(head(1_000), written: 10_000, confirmed: 10_000))
        #expect(through(samples, head(1_000)) == 1_000)
    }

    @Test func `of a workspace that is not followed nothing is remembered`() {
        var samples = ReplicaSamples()
        samples.take(report(head(5), written: 100, confirmed: 100))
        samples.take(report(nil, written: 200, confirmed: 200))
        #expect(through(samples, head(5)) == 0)
    }
}
