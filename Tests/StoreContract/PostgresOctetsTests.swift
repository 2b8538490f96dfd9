import Testing
import TidemarkModel
import TidemarkStore

@testable import TidemarkPostgresStore

/// `sync_record.octets` decides where a read is cut. An operator's own SQL, or another program, may leave it wrong.
@Suite(.enabled(if: TestSchema.isGiven), .timeLimit(.minutes(5)))
struct PostgresOctetsTests {
    @Test(arguments: [300, 0])
    func `records whose stored size is wrong are read all the same`(_ octets: Int) async throws {
        var options = TestSchema.options
        options.limits.readBytesMax = 1_000
        try await TestSchema.with { schema in
            let running = try await RunningPostgresStore(schema, node: 1, options: options)
            let under = StoreUnderTest(store: running.store)
            for number: Int64 in 1...10 { try await under.commit { $0.put(.numbered(number)) } }
            try await schema.sql("UPDATE sync_record SET octets = \(octets)")

            let windows = try await under.windows([.a], span: 100)
            #expect(windows.flatMap(\.records).map(\.seq) == Array(1...10))
            var born: [SequenceNumber] = []
            var before = SequenceNumber.max
            while true {
                let page = try await under.store.page(
                    scope: .a, collection: "message", before: before, limit: 50, in: under.workspace)
                born += page.records.map(\.born)
                guard !page.isLast, let last = page.records.last else { break }
                before = last.born
            }
            #expect(born == Array((1...10).reversed()))
            try await running.end()
        }
    }
}
