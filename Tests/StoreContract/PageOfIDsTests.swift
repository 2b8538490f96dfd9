import Testing
import TidemarkModel
import TidemarkStore

/// R-25: single records, requested by clients that know only their ids.
@Suite struct PageOfIDsTests {
    private func page(
        _ ids: [Int64], of under: StoreUnderTest, collection: String = "message"
    ) async throws -> Page {
        try await under.store.page(
            scope: .a, collection: collection, ids: ids.map { .numbered($0) }, limit: 200, in: under.workspace)
    }

    @Test(arguments: StoreKind.available)
    func `living records of the scope are returned in the requested order, and nothing else is`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withStore { under in
            let last = try await under.commit { draft in
                for number: Int64 in 1...5 { draft.put(.numbered(number)) }
                draft.put(.numbered(6), in: .b)
                draft.put(.numbered(7), collection: "note")
            }
            let edited = try await under.commit { draft in
                draft.put(.numbered(2), born: 2, body: nil)
                draft.put(.numbered(3), born: 3, body: #"{"text":"edited"}"#)
            }
            let found = try await page([5, 3, 9, 2, 6, 7, 1], of: under)
            #expect(found.records.map(\.born) == [5, 3, 1])
            #expect(found.records[1] == edited.records[1] && found.at == edited.head)
            #expect(found.isLast && found.answered == 7)
            let note = try await page([7, 1], of: under, collection: "note")
            #expect(note.records.map(\.born) == [last.records[6].born])
            let none = try await page([], of: under)
            #expect(none.records.isEmpty && none.isLast && none.answered == 0)
        }
    }

    @Test(arguments: StoreKind.available)
    func `records that do not fit are left for the next request, and one is always returned`(
        _ kind: StoreKind
    ) async throws {
        var limits = StoreLimits()
        limits.readBytesMax = 100
        limits.pageRowsMax = 4
        try await kind.withStore(limits: limits) { under in
            let large = #"{"text":"\#(String(repeating: "x", count: 60))"}"#
            try await under.commit { draft in
                for number: Int64 in 1...8 { draft.put(.numbered(number), body: number < 4 ? large : "{}") }
            }
            let first = try await page([11, 1, 12, 2, 3], of: under)
            #expect(first.records.map(\.born) == [1] && first.answered == 3 && !first.isLast)
            let rows = try await page([4, 5, 6, 7, 8], of: under)
            #expect(rows.records.map(\.born) == [4, 5, 6, 7] && rows.answered == 4 && !rows.isLast)
            let absent = try await page([21, 22, 23, 24, 25], of: under)
            #expect(absent.records.isEmpty && absent.answered == 4 && !absent.isLast)
        }
    }
}
