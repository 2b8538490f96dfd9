import Testing
import TidemarkModel
import TidemarkStore

@Suite struct PageTests {
    private func pages(_ under: StoreUnderTest, limit: Int) async throws -> [Page] {
        var pages: [Page] = []
        var before = Int64.max
        repeat {
            let page = try await under.store.page(
                scope: .a, collection: "message", before: before, limit: limit, in: under.workspace)
            pages.append(page)
            try #require(page.isLast || !page.records.isEmpty, "a page must advance")
            before = page.records.last?.born ?? 0
        } while pages.last?.isLast == false
        return pages
    }

    @Test(arguments: StoreKind.available)
    func `pages are sorted from the newest creation to the oldest, living records only`(_ kind: StoreKind) async throws
    {
        try await kind.withStore { under in
            try await under.commit { draft in
                for number: Int64 in 1...10 { draft.put(.numbered(number)) }
                draft.put(.numbered(11), in: .b)
                draft.put(.numbered(12), collection: "note")
            }
            let last = try await under.commit { draft in
                draft.put(.numbered(3), born: 3, body: #"{"text":"edited"}"#)
                draft.put(.numbered(7), born: 7, body: nil)
                draft.put(.numbered(10), born: 10, body: nil)
            }
            let pages = try await pages(under, limit: 3)
            #expect(pages.map { $0.records.map(\.born) } == [[9, 8, 6], [5, 4, 3], [2, 1]])
            #expect(pages.map(\.isLast) == [false, false, true])
            #expect(pages.allSatisfy { $0.at == last.head })
            #expect(pages[1].records[2] == last.records[0])
        }
    }

    @Test(arguments: StoreKind.available)
    func `an edit or a deletion between two pages moves nothing else`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            try await under.commit { draft in
                for number: Int64 in 1...6 { draft.put(.numbered(number)) }
            }
            func page(_ before: Int64) async throws -> [Int64] {
                try await under.store.page(
                    scope: .a, collection: "message", before: before, limit: 2, in: under.workspace
                ).records.map(\.born)
            }
            #expect(try await page(.max) == [6, 5])
            try await under.commit { draft in
                draft.put(.numbered(6), born: 6, body: nil)
                draft.put(.numbered(4), born: 4)
                draft.put(.numbered(20))
            }
            #expect(try await page(5) == [4, 3])
            try await under.commit { $0.put(.numbered(6), born: 6) }
            #expect(try await page(.max) == [9, 6], "a record brought back is at its old place")
        }
    }

    @Test(arguments: StoreKind.available)
    func `a page that is exactly full knows that it is the last`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            try await under.commit { draft in
                for number: Int64 in 1...4 { draft.put(.numbered(number)) }
            }
            #expect(try await pages(under, limit: 2).map(\.records.count) == [2, 2])
            #expect(try await pages(under, limit: 4).map(\.isLast) == [true])
        }
    }

    @Test(arguments: StoreKind.available)
    func `an empty scope is one last page`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            let pages = try await pages(under, limit: 10)
            #expect(pages == [Page(records: [], at: .start, isLast: true)])
        }
    }

    @Test(arguments: StoreKind.available)
    func `a page has at most its rows and its bytes, and at least one row`(_ kind: StoreKind) async throws {
        var limits = StoreLimits()
        limits.pageRowsMax = 3
        limits.readBytesMax = 1_000
        try await kind.withStore(limits: limits) { under in
            @Sendable func body(_ count: Int) -> String { "\"" + String(repeating: "x", count: count - 2) + "\"" }
            try await under.commit { draft in
                for (index, count) in [5_000, 600, 600, 300, 10, 10, 10].enumerated() {
                    draft.put(.numbered(Int64(index)), body: body(count))
                }
            }
            let pages = try await pages(under, limit: 100)
            #expect(pages.map { $0.records.map(\.born) } == [[7, 6, 5], [4, 3], [2], [1]])
            #expect(pages.map(\.isLast) == [false, false, false, true])
            #expect(try await self.pages(under, limit: 0).count == 7)
        }
    }

    /// Each number of the order is one record, so that the head is the number of records.
    @Test(arguments: StoreKind.available)
    func `a page read while others commit is of one state`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            for number in Int64(1)...150 {
                async let committed = under.commit { $0.put(.numbered(number)) }
                let page = try await under.store.page(
                    scope: .a, collection: "message", before: .max, limit: 200, in: under.workspace)
                let count = Int64(page.records.count)
                try #require(count == number - 1 || count == number)
                try #require(page.at.seq == count && page.records.first?.seq ?? 0 == count)
                _ = try await committed
            }
        }
    }
}
