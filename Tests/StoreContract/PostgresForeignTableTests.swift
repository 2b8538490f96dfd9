import Testing
import TidemarkModel
import TidemarkStore

@testable import TidemarkPostgresStore

/// An operator, or a later version that migrates, changes the tables under a running node.
@Suite(.enabled(if: TestSchema.isGiven), .timeLimit(.minutes(5)))
struct PostgresForeignTableTests {
    struct Change: CustomTestStringConvertible {
        let state: String
        let make: [String]
        let undo: [String]

        var testDescription: String { make.joined(separator: "; ") }
    }

    private static let refusing = """
        CREATE FUNCTION refuse_all() RETURNS trigger LANGUAGE plpgsql
        AS $$ BEGIN RAISE EXCEPTION 'maintenance'; END $$
        """

    static let changes = ["batch", "record"].flatMap { table in
        [
            Change(
                state: "23502",
                make: [
                    "ALTER TABLE sync_\(table) ADD COLUMN mine text NOT NULL DEFAULT 'x'",
                    "ALTER TABLE sync_\(table) ALTER COLUMN mine DROP DEFAULT",
                ],
                undo: ["ALTER TABLE sync_\(table) DROP COLUMN mine"]),
            Change(
                state: "23514", make: ["ALTER TABLE sync_\(table) ADD CONSTRAINT mine CHECK (seq < 3)"],
                undo: ["ALTER TABLE sync_\(table) DROP CONSTRAINT mine"]),
            Change(
                state: "42703", make: ["ALTER TABLE sync_\(table) RENAME COLUMN seq TO number"],
                undo: ["ALTER TABLE sync_\(table) RENAME COLUMN number TO seq"]),
            Change(
                state: "P0001",
                make: [
                    refusing,
                    "CREATE TRIGGER mine BEFORE INSERT ON sync_\(table) FOR EACH ROW EXECUTE FUNCTION refuse_all()",
                ],
                undo: ["DROP TRIGGER mine ON sync_\(table)"]),
        ]
    }

    @Test(.onOneMachine("spread tables have no triggers"), arguments: changes)
    func `a change of the tables makes writes wait, and loses none of them`(_ change: Change) async throws {
        try await TestSchema.with { schema in
            let running = try await RunningPostgresStore(schema, node: 1)
            let under = StoreUnderTest(store: running.store)
            let head = try await under.commit { draft in
                for number in Int64(1)...2 { draft.put(.numbered(number)) }
            }.head
            for statement in change.make { try await schema.sql(statement) }
            // A batch planned from memory is not written either; if the commit does not say why, the next read does.
            let remembered = try? await under.commitment(of: under.create(3, after: head))
            #expect(remembered == nil || remembered == .moved)
            let error = await #expect(throws: StoreError.self) { try await under.commit { $0.put(.numbered(3)) } }
            #expect(error?.kind == .unavailable)
            #expect(error?.reason.contains(change.state) == true, "\(error?.reason ?? "")")
            for statement in change.undo { try await schema.sql(statement) }
            #expect(try await under.commit { $0.put(.numbered(3)) }.low == 3)
            try await running.end()
        }
    }

    @Test func `a value that only another program's index cannot store is refused alone`() async throws {
        try await TestSchema.with { schema in
            let running = try await RunningPostgresStore(schema, node: 1)
            let under = StoreUnderTest(store: running.store)
            try await under.commit { $0.put(.numbered(1)) }
            try await schema.sql("CREATE INDEX mine ON sync_record (((body ->> 'n')::integer))")
            let error = await #expect(throws: StoreError.self) {
                try await under.commit { $0.put(.numbered(2), body: #"{"n":"many"}"#) }
            }
            #expect(error?.kind == .data)
            #expect(try await under.commit { $0.put(.numbered(2), body: #"{"n":"3"}"#) }.low == 2)
            try await running.end()
        }
    }

    @Test func `a commit in a database that is older than the workspace is stored`() async throws {
        try await TestSchema.with { schema in
            let running = try await RunningPostgresStore(schema, node: 1)
            let under = StoreUnderTest(store: running.store)
            for number in Int64(1)...2 { try await under.commit { $0.put(.numbered(number)) } }
            for table in ["record", "batch", "workspace"] { try await schema.sql("DELETE FROM sync_\(table)") }
            let batch = try await under.commit { $0.put(.numbered(3)) }
            #expect(batch.low == 1)
            #expect(try await schema.sql("SELECT max(seq)::text FROM sync_batch") == ["1"])
            try await running.end()
        }
    }
}
