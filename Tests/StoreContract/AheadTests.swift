import Foundation
import Testing
import TidemarkModel
import TidemarkStore

@testable import TidemarkEmbeddedStore

/// Batches that are planned on the expected result of the one before them, and submitted behind it.
@Suite(.timeLimit(.minutes(5))) struct AheadTests {
    @Test(arguments: StoreKind.available)
    func `a batch on a head other than the stored one writes nothing`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            let head = try await under.commit { $0.put(.numbered(1)) }.head
            for wrong in [
                Head.start, Head(seq: head.seq, nonce: head.nonce ^ 1, time: head.time, epoch: head.epoch),
                Head(seq: head.seq + 1, nonce: 5, time: head.time, epoch: head.epoch),
            ] {
                for isAhead in [false, true] {
                    #expect(try await under.commitment(of: under.create(2, after: wrong, isAhead: isAhead)) == .moved)
                }
            }
            #expect(try await under.read(ReadSet()).head == head)
        }
    }

    @Test(arguments: StoreKind.available)
    func `a batch ahead is committed on top of the one before`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            let first = try await under.commit { $0.put(.numbered(1)) }
            let second = try under.create(2, after: first.head, isAhead: true)
            #expect(try await under.commitment(of: second) == .written(isHeard: false))
            #expect(try await under.read(ReadSet()).head == second.batch.head)
        }
    }

    @Test func `a batch submitted while the one before waits for the writer is written behind it`()
        async throws
    {
        try await withHeldFile { under, head, release in
            let first = try under.create(2, after: head)
            let second = try under.create(3, after: first.batch.head, isAhead: true)
            let results = try await under.commitments(of: [first, second], then: release)
            #expect(results == [.written(isHeard: false), .written(isHeard: false)])
            #expect(try await under.read(ReadSet()).head == second.batch.head)
        }
    }

    @Test func `a batch planned on one that is not written is not written either`() async throws {
        try await withHeldFile { under, head, release in
            // The record exists: the store finds out when it writes.
            let first = try under.create(1, after: head)
            let second = try under.create(3, after: first.batch.head, isAhead: true)
            #expect(try await under.commitments(of: [first, second], then: release) == [.moved, .moved])
            let page = try await under.store.page(
                scope: .a, collection: "message", before: .max, limit: 9, in: under.workspace)
            #expect(page.records.map(\.key.id) == [.numbered(1)])
            #expect(try await under.commitment(of: under.create(3, after: head)) == .written(isHeard: false))
        }
    }

    /// Runs with a file whose writer is busy until `release` is called, and which has record 1.
    private func withHeldFile(_ body: (StoreUnderTest, Head, @escaping @Sendable () -> Void) async throws -> Void)
        async throws
    {
        let file = TemporaryFile()
        let store = try EmbeddedStore(path: file.path)
        let under = StoreUnderTest(store: store)
        let head = try await under.commit { $0.put(.numbered(1)) }.head
        let gate = DispatchSemaphore(value: 0)
        let (busy, begun) = AsyncStream.makeStream(of: Void.self)
        async let held: Void = store.onWriter { _ in
            begun.finish()
            gate.wait()
        }
        for await _ in busy {}
        try await body(under, head) { gate.signal() }
        try await held
        try store.close()
        try file.remove()
    }
}

extension StoreUnderTest {
    /// A batch that creates a message, planned without reading any record.
    func create(_ number: Int64, after head: Head, isAhead: Bool = false) throws -> PlannedBatch {
        var draft = BatchDraft(after: head)
        draft.put(.numbered(number))
        return try PlannedBatch(draft.batch, on: OrderState(head: head), isAhead: isAhead)
    }

    func commitment(of planned: PlannedBatch) async throws -> Commitment {
        try await store.commit(planned, in: workspace)
    }

    /// Submits the batches one behind the other, as a lane does, and runs `release` then.
    func commitments(
        of batches: [PlannedBatch], then release: @Sendable () async throws -> Void
    ) async throws -> [Commitment] {
        try await withThrowingTaskGroup(of: (Int, Commitment).self) { group in
            for (index, planned) in batches.enumerated() {
                group.addImmediateTask { (index, try await commitment(of: planned)) }
            }
            try await release()
            return try await group.reduce(into: []) { $0.append($1) }.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }
}
