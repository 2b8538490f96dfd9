import Testing
import TidemarkModel
import TidemarkStore

/// Records that a plan only creates: it may be made without knowing whether they exist.
@Suite struct BirthTests {
    private static let key = RecordKey(collection: "message", id: .numbered(7))

    private static var reads: ReadSet {
        var reads = ReadSet()
        reads.births = [.init(user: .ann, record: key)]
        return reads
    }

    /// Creates the record after `head`, as a plan from memory does.
    private func create(in under: StoreUnderTest, after head: Head) async throws -> Commitment {
        var draft = BatchDraft(after: head)
        draft.put(Self.key.id, body: #"{"text":"mine"}"#)
        return try await under.store.commit(
            try PlannedBatch(draft.batch, on: OrderState(head: head)), in: under.workspace)
    }

    @Test(arguments: StoreKind.available)
    func `a record that does not exist is created`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            let head = try await under.commit { $0.skip() }.head
            #expect(try await create(in: under, after: head) == .written(isHeard: false))
            #expect(try await under.read(Self.reads.lookingAtBirths).records.keys.map(\.self) == [Self.key])
        }
    }

    @Test(arguments: StoreKind.available)
    func `an existing record stays unchanged, and nothing of the batch is written`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            let first = try await under.commit { $0.put(Self.key.id, body: #"{"text":"first"}"#) }
            #expect(try await create(in: under, after: first.head) == .moved)
            let found = try await under.read(Self.reads)
            #expect(found.head == first.head)
            #expect(Array(found.records.values) == first.records, "births are looked at when something is read")
        }
    }

    @Test(arguments: StoreKind.available)
    func `the seat of a user in an existing birth is returned with it`(_ kind: StoreKind) async throws {
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
