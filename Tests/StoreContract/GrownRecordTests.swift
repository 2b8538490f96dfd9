import Testing
import TidemarkModel
import TidemarkStore

/// Windows and pages are cut by the present size of a record, not by its earlier one.
@Suite struct GrownRecordTests {
    private static func body(_ count: Int) -> String { "\"" + String(repeating: "x", count: count - 2) + "\"" }

    /// Writes three records of a kilobyte each; the middle one then grows, or shrinks, in a batch of its own.
    private func with(
        _ kind: StoreKind, from: Int, to: Int, _ body: (StoreUnderTest) async throws -> Void
    ) async throws {
        var limits = StoreLimits()
        limits.readBytesMax = 10_000
        try await kind.withStore(limits: limits) { under in
            for number: Int64 in 1...3 {
                try await under.commit { $0.put(.numbered(number), body: Self.body(number == 2 ? from : 1_000)) }
            }
            try await under.commit { $0.put(.numbered(2), born: 2, body: Self.body(to)) }
            try await under.commit { $0.put(.numbered(4), body: Self.body(1_000)) }
            try await body(under)
        }
    }

    private func page(_ under: StoreUnderTest, before: SequenceNumber = .max) async throws -> [SequenceNumber] {
        try await under.store.page(
            scope: .a, collection: "message", before: before, limit: 9, in: under.workspace
        ).records.map(\.born)
    }

    private func page(_ under: StoreUnderTest, ids: [Int64]) async throws -> Int {
        try await under.store.page(
            scope: .a, collection: "message", ids: ids.map { .numbered($0) }, limit: 9, in: under.workspace
        ).answered
    }

    @Test(arguments: StoreKind.available)
    func `a record that has grown is sent alone from then on`(_ kind: StoreKind) async throws {
        try await with(kind, from: 1_000, to: 500_000) { under async throws in
            #expect(try await under.windows([.a], span: 100).map { $0.records.map(\.seq) } == [[1, 3], [4], [5]])
            #expect(try await page(under) == [5, 3])
            #expect(try await page(under, before: 3) == [2])
            #expect(try await page(under, before: 2) == [1])
            #expect(try await page(under, ids: [1, 2, 3]) == 1)
            #expect(try await page(under, ids: [2, 3]) == 1)
        }
    }

    @Test(arguments: StoreKind.available)
    func `a record that has shrunk is sent with others again`(_ kind: StoreKind) async throws {
        try await with(kind, from: 500_000, to: 1_000) { under async throws in
            #expect(try await under.windows([.a], span: 100).map { $0.records.map(\.seq) } == [[1, 3, 4, 5]])
            #expect(try await page(under) == [5, 3, 2, 1])
            #expect(try await page(under, ids: [1, 2, 3]) == 3)
        }
    }

    @Test(arguments: StoreKind.available)
    func `a deleted record, and a restored one, have the size of what is left`(
        _ kind: StoreKind
    ) async throws {
        try await with(kind, from: 500_000, to: 500_000) { under in
            try await under.commit { $0.put(.numbered(2), born: 2, body: nil) }
            #expect(try await under.windows([.a], span: 100).map { $0.records.map(\.seq) } == [[1, 3, 5, 6]])
            try await under.commit { $0.put(.numbered(2), born: 2, body: Self.body(500_000)) }
            #expect(try await under.windows([.a], span: 100).map { $0.records.map(\.seq) } == [[1, 3, 5], [7]])
        }
    }
}
