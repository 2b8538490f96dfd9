import Testing
import TidemarkModel
import TidemarkStore

@testable import TidemarkPostgresStore

/// A scope's place is a hash: two scopes can have the same. A test cannot wait for that, so it gives them the same.
@Suite(.enabled(if: TestSchema.isGiven), .timeLimit(.minutes(5)))
struct PostgresPlaceTests {
    /// Checks that scope `a` holds its first record, number 1, and nothing else with the same place.
    private func expectNothingOfOthers(in under: StoreUnderTest) async throws {
        #expect(try await under.store.changedScopes(among: [.a], after: 1, in: under.workspace).isEmpty)
        let window = try await under.store.window(scopes: [.a], after: 0, span: 9, in: under.workspace)
        #expect(window.records.map(\.key.id) == [.numbered(1)])
        let page = try await under.store.page(
            scope: .a, collection: "message", before: .max, limit: 9, in: under.workspace)
        #expect(page.records.map(\.key.id) == [.numbered(1)] && page.isLast)
    }

    @Test func `scopes that share a place keep their records apart`() async throws {
        try await TestSchema.with { schema in
            let running = try await RunningPostgresStore(schema, node: 1)
            let under = StoreUnderTest(store: running.store)
            try await under.commit { draft in
                draft.put(.numbered(1), in: .a)
                draft.put(.numbered(2), in: .b)
            }
            try await under.commit { $0.put(.numbered(3), in: .b) }
            try await schema.sql(
                "UPDATE sync_record SET place = (SELECT place FROM sync_record WHERE scope = '\(ScopeID.a.text)' LIMIT 1)"
            )

            try await expectNothingOfOthers(in: under)
            try await running.end()
        }
    }

    @Test func `workspaces that share a place keep their records apart`() async throws {
        try await TestSchema.with { schema in
            let running = try await RunningPostgresStore(schema, node: 1)
            let under = StoreUnderTest(store: running.store)
            let other = WorkspaceID("other")
            try await under.commit { $0.put(.numbered(1), in: .a) }
            for number in Int64(2)...3 { try await under.commit(in: other) { $0.put(.numbered(number), in: .a) } }
            try await schema.sql(
                """
                UPDATE sync_record
                SET place = (SELECT place FROM sync_record WHERE workspace = '\(under.workspace.text)' LIMIT 1)
                """)

            try await expectNothingOfOthers(in: under)
            try await running.end()
        }
    }

    @Test func `a scope's place cannot be derived from its name`() async throws {
        try await TestSchema.with { schema in
            let running = try await RunningPostgresStore(schema, node: 1)
            let under = StoreUnderTest(store: running.store)
            try await under.commit { $0.put(.numbered(1), in: .a) }
            try await under.commit(in: WorkspaceID("other")) { $0.put(.numbered(1), in: .a) }
            try await under.commit(in: WorkspaceID("third")) { $0.put(.numbered(1), in: .a) }
            #expect(try await schema.sql("SELECT count(DISTINCT place)::text FROM sync_record") == ["3"])
            try await running.end()
        }
    }

    /// Changes all places, as an upgrade to a PostgreSQL with another hash function would.
    private func hashOtherwise(_ schema: TestSchema) async throws {
        try await schema.sql("UPDATE sync_record SET place = place + 1", "UPDATE sync_probe SET hash = hash + 1")
    }

    @Test func `records are found again when PostgreSQL hashes differently than before`() async throws {
        try await TestSchema.with { schema in
            var options = TestSchema.options
            options.placesPerStep = 2
            let running = try await RunningPostgresStore(schema, node: 1)
            let under = StoreUnderTest(store: running.store)
            for number in Int64(1)...5 { try await under.commit { $0.put(.numbered(number), in: .a) } }
            try await under.commit(in: WorkspaceID("other")) { $0.put(.numbered(1), in: .a) }
            try await running.end()
            try await hashOtherwise(schema)

            let again = try await RunningPostgresStore(schema, node: 1, options: options)
            let window = try await again.store.window(scopes: [.a], after: 0, span: 9, in: under.workspace)
            #expect(window.records.map(\.seq) == [1, 2, 3, 4, 5])
            let other = try await again.store.window(scopes: [.a], after: 0, span: 9, in: WorkspaceID("other"))
            #expect(other.records.map(\.seq) == [1])
            let probe = try await schema.sql(
                "SELECT (hash = hashtextextended('tidemark', 0))::text FROM sync_probe")
            #expect(probe == ["true"])
            try await again.end()
        }
    }

    @Test func `nodes that start at once recompute places together`() async throws {
        try await TestSchema.with { schema in
            var options = TestSchema.options
            options.placesPerStep = 1
            let running = try await RunningPostgresStore(schema, node: 1, options: options)
            let under = StoreUnderTest(store: running.store)
            for number in Int64(1)...9 { try await under.commit { $0.put(.numbered(number), in: .a) } }
            try await hashOtherwise(schema)
            try await withThrowingDiscardingTaskGroup { group in
                for _ in 0..<3 { group.addTask { try await running.store.migrate() } }
            }
            let window = try await running.store.window(scopes: [.a], after: 0, span: 9, in: under.workspace)
            #expect(window.records.count == 9)
            try await running.end()
        }
    }
}
