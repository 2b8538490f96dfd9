import Foundation
import Testing
import TidemarkModel
import TidemarkPostgres
import TidemarkPostgresStore
import TidemarkStore

/// A commit whose answer did not come.
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
            try await under.commit { $0.skip() }
            let batch = try await under.commit { draft in
                draft.put(.numbered(1))
                wire.fail(next: .answer)
            }
            #expect(wire.faultCount == 1)
            #expect(
                try await under.store.tail(after: 0, limit: 9, in: under.workspace).batches.map(\.head.seq) == [1, 2])
            #expect(try await under.read(ReadSet()).head == batch.head)
        }
    }

    @Test func `a batch that never arrived is unavailable, and its numbers are given again`() async throws {
        try await withWire { under, wire in
            try await under.commit { $0.skip() }
            let error = await #expect(throws: StoreError.self) {
                try await under.commit { draft in
                    draft.put(.numbered(1))
                    wire.fail(next: .request)
                }
            }
            #expect(error?.kind == .unavailable)
            #expect(wire.faultCount == 1)
            let again = try await under.commit { $0.put(.numbered(1)) }
            #expect(again.low == 2)
            #expect(try await under.store.tail(after: 0, limit: 9, in: under.workspace).batches.count == 2)
        }
    }

    @Test func `a step is two round trips`() async throws {
        try await withWire { under, wire in
            let row = try await under.register(.numbered(50), for: .ann)
            try await under.commit { $0.skip() }
            var reads = ReadSet()
            reads.clients = [.init(client: row.id, first: 1, last: 1)]
            reads.records = [RecordKey(collection: "message", id: .numbered(1))]
            reads.recordSeats = [.init(user: .ann, record: reads.records[0])]
            reads.seats = [Seat(user: .ann, scope: .a)]
            let before = wire.answerCount
            _ = try await under.store.sequence(under.workspace, reading: reads) { found in
                var draft = BatchDraft(after: found.head)
                draft.put(.numbered(1))
                draft.grant(.ann, .a)
                draft.settle(row, through: 1)
                return draft.batch
            }
            #expect(wire.answerCount - before == 2)
        }
    }
}
