import Crypto
import Testing
import TidemarkHub
import TidemarkLock
import TidemarkModel
import TidemarkStore

@testable import TidemarkNode

/// The tail of a database that went back. Nonces distinguish histories.
@Suite struct TailRewindTests {
    private func head(_ seq: SequenceNumber, _ nonce: UInt64? = nil) -> Head {
        Head(seq: seq, nonce: nonce ?? UInt64(seq), time: 1, epoch: 1)
    }

    private func batch(_ seq: SequenceNumber, _ nonce: UInt64? = nil, on base: UInt64? = nil) -> CommittedBatch {
        var batch = CommittedBatch(low: seq, head: head(seq, nonce))
        batch.baseNonce = base
        return batch
    }

    private func found(_ batches: CommittedBatch..., on base: Head? = nil) -> TailRead {
        TailRead(base: base, batches: batches.map { TailBatch(low: $0.low, head: $0.head, batch: $0) })
    }

    private func read(_ tail: inout Tail, _ found: TailRead, isWhole: Bool = true) -> Tail.Reading {
        tail.read(found, from: tail.mark, isWhole: isWhole, isCommitting: false)
    }

    @Test func `an order that ends before the tail has gone back, and the tail emits nothing until it begins again`() {
        var tail = Tail(head: head(9))
        #expect(read(&tail, found()) == .rewound)
        #expect(tail.committed(batch(10, on: 9)) == [])
        #expect(read(&tail, found(batch(10), on: head(9))) == .rewound)
        tail.restart(at: head(5))
        #expect(tail.head == head(5) && !tail.isLost)
        #expect(tail.committed(batch(6, on: 5)) == [.batch(batch(6, on: 5))])
    }

    @Test func `another batch with the same number is another history, even if more was written since`() {
        var tail = Tail(head: head(9))
        #expect(read(&tail, found(batch(10, 77), on: head(9, 99))) == .rewound)
        // The number may lie inside another batch.
        var inside = Tail(head: head(9))
        #expect(read(&inside, found(on: head(12, 12))) == .rewound)
    }

    @Test func `an order that ends before its last read number has gone back`() {
        var tail = Tail(head: head(3))
        tail.saw(9)
        #expect(read(&tail, found(batch(4), on: head(3)), isWhole: false) == .outputs([.batch(batch(4))]))
        #expect(read(&tail, found(batch(5), on: head(4))) == .rewound)
    }

    @Test func `a read of the order during the read of the tail is ignored`() {
        var tail = Tail(head: head(3))
        let mark = tail.mark
        tail.saw(4)
        #expect(tail.read(found(on: head(3)), from: mark, isWhole: true, isCommitting: false) == .outputs([]))
        #expect(read(&tail, found(batch(4), on: head(3))) == .outputs([.batch(batch(4))]))
    }

    @Test func `an own batch of another history is not emitted`() {
        var tail = Tail(head: head(5, 55))
        #expect(tail.committed(batch(6, on: 5)) == [])
        #expect(read(&tail, found(batch(6, 66), on: head(5, 55))) == .outputs([.batch(batch(6, 66))]))
        // The batch was published too early, and is not the one that the store has under its number.
        #expect(tail.committed(batch(8, 8, on: 7)) == [])
        #expect(
            read(&tail, found(batch(7, 77), batch(8, 88), on: head(6, 66)))
                == .outputs([.batch(batch(7, 77)), .batch(batch(8, 88))]))
    }

    @Test func `before the first batch there is nothing to lose`() {
        var tail = Tail(head: .start)
        #expect(read(&tail, found()) == .outputs([]))
        #expect(read(&tail, found(batch(1))) == .outputs([.batch(batch(1))]))
    }

    // MARK: The feed

    /// Reads a feed at number 9 until there is nothing more, and returns its report of a rewind.
    private func readOn(
        _ read: @Sendable (SequenceNumber) throws(StoreError) -> TailRead
    ) async throws -> (feed: Feed, told: [Feed.Rewind], error: StoreError?) {
        let seal = CursorSeal(key: SymmetricKey(data: Array("a key of the test suite".utf8)))
        let feed = Feeds(inboxes: [], seal: seal).open(WorkspaceID("w"))
        let (before, after) = (head(9), head(5))
        _ = try await feed.follow(now: 1) { () async throws(StoreError) in before }
        let told = Lock<[Feed.Rewind]>([])
        var failure: StoreError?
        do throws(StoreError) {
            try await feed.readOn(
                now: { 2 }, limit: 9, isCommitting: { false }, follow: { _ async throws(StoreError) in after },
                rewound: { rewind in told.withLock { $0.append(rewind) } }
            ) { seq async throws(StoreError) in try read(seq) }
        } catch {
            failure = error
        }
        return (feed, told.withLock { $0 }, failure)
    }

    @Test func `a feed begins again at the stored head, and reports from which number`() async throws {
        let (base, next) = (head(5), batch(6, on: 5))
        let outcome = try await readOn { seq throws(StoreError) in
            switch seq {
            case 5:
                TailRead(base: base, batches: [TailBatch(low: next.low, head: next.head, batch: next)])
            case 6: TailRead(base: next.head, batches: [])
            default: TailRead(base: nil, batches: [])
            }
        }
        #expect(outcome.told == [Feed.Rewind(before: head(9), after: head(5))])
        #expect(outcome.feed.head == next.head && outcome.error == nil)
        #expect(outcome.feed.confirmed == 2)
    }

    @Test func `a store that contradicts itself does not make a feed begin again and again`() async throws {
        let outcome = try await readOn { _ throws(StoreError) in TailRead(base: nil, batches: []) }
        #expect(outcome.told.count == 1 && outcome.error?.kind == .unavailable)
        #expect(outcome.feed.confirmed == 1)
    }
}
