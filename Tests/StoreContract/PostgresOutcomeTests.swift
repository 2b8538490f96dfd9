import Foundation
import Testing
import TidemarkModel
import TidemarkPostgres
import TidemarkPostgresStore
import TidemarkStore

/// A commit whose answer did not arrive.
@Suite(.enabled(if: TestSchema.isGiven), .timeLimit(.minutes(5)))
struct PostgresOutcomeTests {
    private func withWire(_ body: (StoreUnderTest, LossyWire) async throws -> Void) async throws {
        try await TestSchema.with { schema in
            let folder = TemporaryFile().folder
            let wire = try LossyWire(in: folder, to: schema.configuration().target)
            defer { wire.end() }
            try await RunningPostgresStore(schema, node: 1).end()
            let store = try PostgresStore(
                configuration: PostgresConfiguration(
                    connectionString: schema.connectionString(keywords: ["host": folder.path, "port": "5432"])),
                node: 1, options: TestSchema.options, logger: TestSchema.logger)
            try await withThrowingDiscardingTaskGroup { group in
                group.addTask { try await store.run() }
                defer { store.shutdown() }
                try await body(StoreUnderTest(store: store), wire)
            }
        }
    }

    @Test func `a batch that was committed is found by its nonce`() async throws {
        try await withWire { under, wire in
            let head = try await under.commit { $0.skip() }.head
            let planned = try under.create(1, after: head)
            wire.fail(next: .answer)
            #expect(try await under.commitment(of: planned) == .written(isHeard: false))
            #expect(wire.faultCount == 1)
            #expect(
                try await under.store.tail(after: 0, limit: 9, in: under.workspace).batches.map(\.head.seq) == [1, 2])
            #expect(try await under.read(ReadSet()).head == planned.batch.head)
        }
    }

    @Test func `a batch that never arrived is unavailable, and its numbers are used again`() async throws {
        try await withWire { under, wire in
            let head = try await under.commit { $0.skip() }.head
            let planned = try under.create(1, after: head)
            wire.fail(next: .request)
            let error = await #expect(throws: StoreError.self) { try await under.commitment(of: planned) }
            #expect(error?.kind == .unavailable)
            #expect(wire.faultCount == 1)
            let again = try await under.commit { $0.put(.numbered(1)) }
            #expect(again.low == 2)
            #expect(try await under.store.tail(after: 0, limit: 9, in: under.workspace).batches.count == 2)
        }
    }

    @Test func `a batch is two round trips, and one if nothing has to be read`() async throws {
        try await withWire { under, wire in
            let row = try await under.register(.numbered(50), for: .ann)
            try await under.commit { $0.skip() }
            var reads = ReadSet()
            reads.clients = [row.id]
            reads.records = [RecordKey(collection: "message", id: .numbered(1))]
            reads.recordSeats = [.init(user: .ann, record: reads.records[0])]
            reads.seats = [Seat(user: .ann, scope: .a)]
            let before = wire.answerCount
            let reading = try await under.store.read(reads, in: under.workspace)
            var draft = BatchDraft(after: reading.state.head)
            draft.put(.numbered(1))
            draft.grant(.ann, .a)
            draft.settle(row, through: 1)
            let batch = try #require(try await under.commit(draft.batch, on: reading))
            #expect(wire.answerCount - before == 2)
            #expect(try await under.commitment(of: under.create(2, after: batch.head)) == .written(isHeard: false))
            #expect(wire.answerCount - before == 3)
        }
    }
}
