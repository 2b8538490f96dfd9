import Testing
import TidemarkModel
import TidemarkStore

/// Properties beyond the contract that the simulator relies on.
@Suite struct MemoryTablesTests {
    private let workspace = WorkspaceID("w")

    private func write(
        _ tables: inout MemoryTables, _ draw: (inout BatchDraft) -> Void
    ) throws {
        var draft = BatchDraft(after: tables.read(ReadSet(), in: workspace).head)
        draw(&draft)
        try tables.write(draft.batch, in: workspace)
    }

    @Test func `a copy is a snapshot that later writes do not change`() throws {
        var tables = MemoryTables()
        try write(&tables) { $0.put(.numbered(1)) }
        let snapshot = tables
        try write(&tables) { $0.put(.numbered(1), born: 1, body: nil) }
        #expect(try snapshot.window(scopes: [.a], after: 0, span: 9, in: workspace).records.map(\.seq) == [1])
        tables = snapshot
        #expect(tables.read(ReadSet(), in: workspace).head.seq == 1)
    }

    @Test func `a write refused half-way leaves the tables as they were`() throws {
        var tables = MemoryTables()
        try write(&tables) { $0.put(.numbered(1)) }
        #expect(throws: StoreError.self) {
            try write(&tables) { draft in
                draft.put(.numbered(2))
                draft.put(.numbered(1), in: .b, born: 1)
            }
        }
        #expect(try tables.window(scopes: [.a, .b], after: 0, span: 9, in: workspace).records.count == 1)
        #expect(tables.tail(after: 0, limit: 9, in: workspace).batches.count == 1)
    }

    @Test func `thousands of edits of a few records are swept and stay in order`() throws {
        var tables = MemoryTables()
        try write(&tables) { draft in for number: Int64 in 0..<5 { draft.put(.numbered(number)) } }
        for round: Int64 in 0..<2_000 {
            try write(&tables) { $0.put(.numbered(round % 5), born: round % 5 + 1) }
            let window = try tables.window(scopes: [.a], after: 0, span: .max, in: workspace)
            try #require(window.records.count == 5, "after \(round) edits")
        }
        let window = try tables.window(scopes: [.a], after: 0, span: .max, in: workspace)
        #expect(window.records.map(\.seq) == Array(2_001...2_005))
        let page = tables.page(scope: .a, collection: "message", before: .max, limit: 9, in: workspace)
        #expect(page.records.map(\.born) == [5, 4, 3, 2, 1])
    }
}
