import Testing
import TidemarkModel
import TidemarkStore

@Suite struct ReadSetTests {
    private func key(_ number: Int64) -> RecordKey { RecordKey(collection: "message", id: .numbered(number)) }

    @Test(arguments: StoreKind.available)
    func `a read set returns exactly what was requested`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            let ann = try await under.register(.numbered(50), for: .ann)
            let bob = try await under.register(.numbered(51), for: .bob)
            try await under.commit { draft in
                for number: Int64 in 1...5 { draft.put(.numbered(number)) }
                draft.settle(ann, through: 6, refusing: [3])
                draft.settle(bob, through: 2)
                draft.grant(.ann, .a)
                draft.grant(.ann, .b, .admin)
                draft.grant(.bob, .a)
            }
            var reads = ReadSet()
            reads.clients = [ann.id, .numbered(99)]
            reads.records = [key(2), key(4), key(77)]
            reads.seats = [Seat(user: .ann, scope: .b), Seat(user: .bob, scope: .b)]
            let found = try await under.read(reads)
            #expect(Set(found.records.keys) == [key(2), key(4)])
            #expect(found.records[key(4)]?.seq == 4)
            #expect(found.clients.keys.sorted() == [ann.id])
            #expect(found.clients[ann.id]?.row.settledThrough == 6)
            #expect(found.clients[ann.id]?.kept.map(\.number) == [1, 2, 3, 4, 5, 6])
            #expect(found.clients[ann.id]?.result(3)?.rejection == Rejection(.forbidden, "not a \"member\""))
            #expect(found.clients[ann.id]?.result(4)?.rejection == nil)
            #expect(found.grants == [Seat(user: .ann, scope: .b): Grant(scope: .b, since: 7, role: .admin)])
        }
    }

    @Test(arguments: StoreKind.available)
    func `an empty read set returns the head alone`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            let batch = try await under.commit { draft in
                draft.put(.numbered(1))
                draft.grant(.ann, .a)
            }
            let found = try await under.read(ReadSet())
            #expect(found.head == batch.head)
            #expect(found.records.isEmpty && found.clients.isEmpty && found.grants.isEmpty)
        }
    }

    @Test(arguments: StoreKind.available)
    func `a record seat is looked up in the scope of its record`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            try await under.commit { draft in
                draft.put(.numbered(1), in: .a)
                draft.put(.numbered(2), in: .b)
                draft.grant(.ann, .b, .admin)
                draft.grant(.bob, .a)
            }
            var reads = ReadSet()
            reads.recordSeats = [
                .init(user: .ann, record: key(1)), .init(user: .ann, record: key(2)),
                .init(user: .bob, record: key(1)), .init(user: .bob, record: key(9)),
            ]
            let found = try await under.read(reads)
            #expect(
                found.grants == [
                    Seat(user: .ann, scope: .b): Grant(scope: .b, since: 3, role: .admin),
                    Seat(user: .bob, scope: .a): Grant(scope: .a, since: 4, role: .member),
                ])
            #expect(found.records.isEmpty, "a record that was not asked for itself does not come back")
        }
    }

    @Test(arguments: StoreKind.available)
    func `five hundred of each are returned`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            let batch = try await under.commit { draft in
                for number: Int64 in 1...500 {
                    draft.put(.numbered(number), in: ScopeID("s\(number % 20)"))
                    draft.grant(UserID("u\(number)"), ScopeID("s\(number % 20)"))
                }
            }
            var reads = ReadSet()
            reads.records = batch.records.map(\.key)
            reads.recordSeats = batch.records.enumerated().map { index, record in
                .init(user: UserID("u\(index + 1)"), record: record.key)
            }
            let found = try await under.read(reads)
            #expect(found.records.values.sorted { $0.seq < $1.seq } == batch.records)
            #expect(found.grants.count == 500)
        }
    }
}
