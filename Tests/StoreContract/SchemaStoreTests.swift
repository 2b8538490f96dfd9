import Foundation
import Testing
import TidemarkModel
import TidemarkStore

/// The behaviour of every store of schemas; the one in memory has no records.
@Suite struct SchemaStoreTests {
    private func revision(_ number: Int64, _ text: String = "{}", apps: String = "") -> SchemaRevision {
        SchemaRevision(
            number: number, document: Array(text.utf8), requirement: AppRequirement(apps) ?? .none, applied: 7,
            note: "ann, ticket \(number)")
    }

    private func kept(by under: StoreUnderTest) -> any SchemaStore {
        under.store as? any SchemaStore ?? InMemorySchemaStore()
    }

    @Test(arguments: StoreKind.available)
    func `the first start keeps a document, and later ones find it`(_ kind: StoreKind) async throws {
        try await kind.withStore { under async throws in
            let schemas = kept(by: under)
            #expect(try await schemas.begin(with: nil) == SchemaBeginning(newest: nil, isKnown: false))
            let first = revision(1, #"{"a":"é"}"#, apps: "shop 3.1, 2.4")
            let found = SchemaBeginning(newest: first, isKnown: true)
            #expect(try await schemas.begin(with: first) == found)
            #expect(try await schemas.begin(with: first) == found)
            #expect(
                try await schemas.begin(with: revision(1, "other")) == SchemaBeginning(newest: first, isKnown: false))
            #expect(try await schemas.begin(with: nil).newest == first)
            #expect(try await schemas.revision(after: 0) == first)
            #expect(try await schemas.revision(after: 1) == nil)
        }
    }

    @Test(arguments: StoreKind.available)
    func `a revision is stored only as the successor of the newest one`(_ kind: StoreKind) async throws {
        try await kind.withStore { under async throws in
            let schemas = kept(by: under)
            #expect(try await !schemas.keep(revision(2)))
            #expect(try await schemas.keep(revision(1)))
            #expect(try await !schemas.keep(revision(1, "other")))
            #expect(try await !schemas.keep(revision(3)))
            #expect(try await schemas.keep(revision(2, "second")))
            #expect(try await schemas.revision(after: 1) == revision(2, "second"))
            #expect(try await schemas.begin(with: revision(3, "third")).newest == revision(3, "third"))
            let earlier = try await schemas.begin(with: revision(1, "second"))
            #expect(earlier == SchemaBeginning(newest: revision(3, "third"), isKnown: true))
        }
    }

    @Test(arguments: StoreKind.available)
    func `of many concurrent revisions one is stored, and all see that one`(_ kind: StoreKind) async throws {
        try await kind.withStore { under async throws in
            let schemas = kept(by: under)
            _ = try await schemas.begin(with: revision(1))
            let kept = try await withThrowingTaskGroup(of: (Int, Bool).self) { group in
                for number in 0..<8 {
                    group.addTask { (number, try await schemas.keep(self.revision(2, "of \(number)"))) }
                }
                return try await group.reduce(into: []) { if $1.1 { $0.append($1.0) } }
            }
            #expect(kept.count == 1)
            #expect(try await schemas.revision(after: 0) == revision(2, "of \(kept.first ?? -1)"))
        }
    }

    @Test(arguments: StoreKind.available.filter { $0 != .memory })
    func `records are counted by collection and by field, step by step, without deleted ones`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withStore { under async throws in
            let schemas = kept(by: under)
            for workspace in ["one", "two"] {
                try await under.commit(in: WorkspaceID("\(workspace)-\(UUID().uuidString)")) { draft in
                    for number in Int64(1)...3 { draft.put(.numbered(number), body: #"{"text":"hi","x":null}"#) }
                    draft.put(.numbered(4), body: nil)
                }
            }
            let (text, none) = (
                RecordCount.Field(collection: "message", name: "text"),
                RecordCount.Field(collection: "message", name: "x")
            )
            var count = RecordCount()
            repeat { count.add(try await schemas.count([text, none], from: count.next)) } while count.next != nil
            #expect(count.records == ["message": 6])
            #expect(count.values[text] == 6 && count.values[none] ?? 0 == 0)
        }
    }

    @Test(arguments: StoreKind.available)
    func `devices are counted by the app that they last used`(_ kind: StoreKind) async throws {
        try await kind.withStore { under async throws in
            let schemas = kept(by: under)
            for number in Int64(1)...4 {
                _ = try await under.store.register(.numbered(number), for: .ann, in: under.workspace, now: 100)
            }
            guard kind != .memory else { return }
            let apps: [(Int64, String)] = [(1, "shop 1"), (2, "shop 1"), (3, "desk 2"), (99, "stranger")]
            _ = try await under.store.saw(
                apps.map { SeenClient(.numbered($0), at: 100, app: $1) }, in: under.workspace)
            let later = [
                SeenClient(.numbered(2), at: 100, app: "shop 2"), SeenClient(.numbered(3), at: 900),
            ]
            _ = try await under.store.saw(later, in: under.workspace)
            let all = try await schemas.apps(seenAfter: 0, limit: 9)
            #expect(
                Set(all) == [
                    AppCount(app: "shop 1", devices: 1, seen: 100), AppCount(app: "shop 2", devices: 1, seen: 100),
                    AppCount(app: "desk 2", devices: 1, seen: 900), AppCount(app: nil, devices: 1, seen: 100),
                ])
            #expect(try await schemas.apps(seenAfter: 100, limit: 9).map(\.app) == ["desk 2"])
            #expect(try await schemas.apps(seenAfter: 0, limit: 2).count == 2)
        }
    }
}
