import Synchronization
import Testing
import TidemarkModel
import TidemarkStore

/// Records that a plan only creates: a store may plan before it knows whether they are there.
@Suite struct BirthTests {
    private static let key = RecordKey(collection: "message", id: .numbered(7))

    private static var reads: ReadSet {
        var reads = ReadSet()
        reads.births = [.init(user: .ann, record: key)]
        return reads
    }

    /// Creates the record where the plan does not find it, and nothing else where it does.
    private func create(in under: StoreUnderTest, _ seen: Seen) async throws -> CommittedBatch? {
        try await under.store.sequence(under.workspace, reading: Self.reads) { found in
            var draft = BatchDraft(after: found.head)
            let existing = found.records[Self.key]
            seen.records.withLock { $0.append(existing) }
            if existing == nil { draft.put(Self.key.id, body: #"{"text":"mine"}"#) } else { draft.skip() }
            return draft.batch
        }
    }

    @Test(arguments: StoreKind.available)
    func `a record that is not there is created`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            try await under.commit { $0.skip() }
            let seen = Seen()
            let batch = try await create(in: under, seen)
            #expect(seen.records.withLock { $0 } == [nil])
            #expect(batch?.records.map(\.key) == [Self.key])
        }
    }

    @Test(arguments: StoreKind.available)
    func `a record that is there is seen by the plan that is committed, and stays as it is`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withStore { under in
            let first = try await under.commit { $0.put(Self.key.id, body: #"{"text":"first"}"#) }
            let seen = Seen()
            let batch = try await create(in: under, seen)
            #expect(seen.records.withLock { $0.last } == first.records[0])
            #expect(batch?.records.isEmpty == true && batch?.low == 2)
            let page = try await under.store.page(
                scope: .a, collection: "message", before: .max, limit: 9, in: under.workspace)
            #expect(page.records == first.records)
        }
    }

    @Test(arguments: StoreKind.available)
    func `the seat of a user in a birth that is there comes back with it`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            try await under.commit { draft in
                draft.put(Self.key.id)
                draft.grant(.ann, .a, .admin)
            }
            let found = try await under.read(Self.reads.lookingAtBirths)
            #expect(found.grants == [Seat(user: .ann, scope: .a): Grant(scope: .a, since: 2, role: .admin)])
            #expect(found.records[Self.key] != nil)
        }
    }
}

/// What each run of a plan found of the record.
private final class Seen: Sendable {
    let records = Mutex<[StoredRecord?]>([])
}
