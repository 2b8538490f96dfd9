import Foundation
import Synchronization
import Testing
import TidemarkModel
import TidemarkPostgres
import TidemarkStore

@testable import TidemarkEmbeddedStore

/// Steps that begin while the one before is under way.
@Suite(.timeLimit(.minutes(5))) struct AheadTests {
    @Test(arguments: StoreKind.available)
    func `a step ahead in a workspace of which nothing is remembered is overtaken and writes nothing`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withStore { under in
            await #expect(throws: StoreError.overtaken) { _ = try await under.create(1, ahead: true) }
            let found = try await under.read(ReadSet())
            #expect(found.head == .start)
        }
    }

    @Test(arguments: StoreKind.available.filter { $0 != .memory })
    func `a step ahead takes what the last one left for given, and is committed on top of it`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withStore { under in
            let first = try await under.commit { $0.put(.numbered(1)) }
            let batch = try #require(try await under.create(2, ahead: true))
            #expect(batch.low == first.head.seq + 1)
            #expect(try await under.read(ReadSet()).head == batch.head)
        }
    }

    @Test func `a batch is planned while the one before waits for the writer, and both are committed`() async throws {
        try await withHeldFile { under, release in
            let planned = Plans()
            async let first = under.create(2, planned)
            let ground = await planned.next()
            async let second = under.createAhead(3, planned)
            let expected = await planned.next()
            #expect(expected.seq == ground.seq + 1)
            release()
            let batches = try await [first, second]
            #expect(batches.map { $0?.low } == [2, 3])
            #expect(batches[0]?.head == expected)
            #expect(try await under.read(ReadSet()).head == batches[1]?.head)
        }
    }

    @Test func `what was planned on a batch that comes out otherwise is not written`() async throws {
        try await withHeldFile { under, release in
            let planned = Plans()
            // There already: the store finds out when it writes, and plans again.
            async let first = under.create(1, planned)
            _ = await planned.next()
            async let second = under.createAhead(3, planned)
            let expected = await planned.next()
            release()
            #expect(try await first?.head != expected)
            do {
                let batch = try await second
                Issue.record("written on top of another batch: \(String(describing: batch))")
            } catch {
                #expect(error as? StoreError == .overtaken)
            }
            let page = try await under.store.page(
                scope: .a, collection: "message", before: .max, limit: 9, in: under.workspace)
            #expect(page.records.map(\.key.id) == [.numbered(1)])
            #expect(try await under.create(3)?.low == 3)
        }
    }

    /// A file whose writer is busy until `release` is called; record 1 is there, and remembered is its batch.
    private func withHeldFile(_ body: (StoreUnderTest, @escaping @Sendable () -> Void) async throws -> Void)
        async throws
    {
        let file = TemporaryFile()
        let store = try EmbeddedStore(path: file.path)
        let under = StoreUnderTest(store: store)
        try await under.commit { $0.put(.numbered(1)) }
        let gate = DispatchSemaphore(value: 0)
        let (busy, begun) = AsyncStream.makeStream(of: Void.self)
        async let held: Void = store.onWriter { _ in
            begun.finish()
            gate.wait()
        }
        for await _ in busy {}
        try await body(under) { gate.signal() }
        try await held
        try store.close()
        try file.remove()
    }
}

/// The heads that plans were made on top of, as they were made.
final class Plans: Sendable {
    let stream: AsyncStream<Head>
    let made: AsyncStream<Head>.Continuation
    private let count = Mutex<UInt64>(0)

    init() { (stream, made) = AsyncStream.makeStream() }

    /// - Returns: the number of the plan, from 1.
    @discardableResult func note(_ head: Head) -> UInt64 {
        defer { made.yield(head) }
        return count.withLock { count in
            count += 1
            return count
        }
    }

    var noted: UInt64 { count.withLock { $0 } }

    /// The next one; tests read them one after the other.
    func next() async -> Head {
        for await head in stream { return head }
        return .start
    }
}

extension StoreUnderTest {
    /// A step that creates a message which it takes for absent, and skips one number where it finds it.
    func create(_ number: Int64, _ plans: Plans = Plans(), ahead: Bool = false) async throws -> CommittedBatch? {
        var reads = ReadSet()
        let key = RecordKey(collection: "message", id: .numbered(number))
        reads.births = [.init(user: .ann, record: key)]
        return try await store.sequence(workspace, reading: reads, ahead: ahead) { found in
            let nth = plans.note(found.head)
            var draft = BatchDraft(after: found.head)
            if found.records[key] == nil { draft.put(key.id) } else { draft.skip() }
            // Another plan, another nonce, as the sequencer gives: what stands on the first never stands on the second.
            draft.tamper { $0.head.nonce ^= nth }
            return draft.batch
        }
    }

    /// The same ahead of a step that was just planned, whose batch is not remembered before its plan returned.
    func createAhead(_ number: Int64, _ plans: Plans) async throws -> CommittedBatch? {
        let before = plans.noted
        while true {
            do {
                return try await create(number, plans, ahead: true)
            } catch let error as StoreError where error == .overtaken && plans.noted == before {
                await Task.yield()
            }
        }
    }
}
