import Testing
import TidemarkModel
import TidemarkStore

@Suite struct LedgerTests {
    private let key = RecordKey(collection: "message", id: .numbered(1))

    /// Overwrites fields of a record in a batch of its own.
    private func overwrite(
        _ under: StoreUnderTest, _ fields: [String] = ["text"], of id: LocalID = .numbered(1), in scope: ScopeID = .a,
        time: Milliseconds = 1_000, old: FieldValue? = "old", new: FieldValue? = "new"
    ) async throws {
        let key = RecordKey(collection: "message", id: id)
        try await under.commit(time: time) { draft in
            let seq = draft.skip()
            draft.tamper { batch in
                for field in fields {
                    batch.ledger.append(
                        LedgerEntry(
                            key: key, scope: scope, seq: seq,
                            value: OverwrittenValue(field: field, rule: .lww, old: old, new: new), oldAuthor: .ann,
                            author: .bob, client: .numbered(7), app: "demo 1", time: time))
                }
            }
        }
    }

    private func history(
        _ under: StoreUnderTest, scope: ScopeID = .a, before: SequenceNumber = .max, limit: Int = 100
    ) async throws -> LedgerPage {
        try await under.store.history(of: key, scope: scope, before: before, limit: limit, in: under.workspace)
    }

    @Test(arguments: StoreKind.available)
    func `an entry is returned whole to readers of its record and scope`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            try await overwrite(under, old: .object(["a": [1, .double(2), .null, "\u{0}é"]]), new: nil)
            try await under.commit { draft in
                let seq = draft.skip()
                draft.tamper { [key] batch in
                    batch.ledger = [
                        LedgerEntry(
                            key: key, scope: .a, seq: seq,
                            value: OverwrittenValue(field: "rank", rule: .server, old: nil, new: 3), oldAuthor: nil,
                            author: .ann, client: .numbered(8), app: nil, time: 1_000)
                    ]
                }
            }
            let page = try await history(under)
            #expect(page.isLast)
            #expect(page.at.seq == 2)
            #expect(
                page.entries == [
                    LedgerEntry(
                        key: key, scope: .a, seq: 2,
                        value: OverwrittenValue(field: "rank", rule: .server, old: nil, new: 3), oldAuthor: nil,
                        author: .ann, client: .numbered(8), app: nil, time: 1_000),
                    LedgerEntry(
                        key: key, scope: .a, seq: 1,
                        value: OverwrittenValue(
                            field: "text", rule: .lww, old: .object(["a": [1, .double(2), .null, "\u{0}é"]]), new: nil),
                        oldAuthor: .ann, author: .bob, client: .numbered(7), app: "demo 1", time: 1_000),
                ])
            #expect(try await history(under, scope: .b).entries.isEmpty)
        }
    }

    @Test(arguments: StoreKind.available)
    func `pages keep the entries of one write together`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            for fields in [["a"], ["c", "b"], ["d", "e", "f"]] { try await overwrite(under, fields) }
            let first = try await history(under, limit: 4)
            #expect(first.entries.map(\.value.field) == ["d", "e", "f"])
            #expect(!first.isLast)
            let next = try await history(under, before: 3, limit: 2)
            #expect(next.entries.map(\.value.field) == ["b", "c"])
            let last = try await history(under, before: 2, limit: 2)
            #expect(last.entries.map(\.value.field) == ["a"])
            #expect(last.isLast)
            let tight = try await history(under, limit: 1)
            #expect(tight.entries.count == 3, "one write always fits")
        }
    }

    @Test(arguments: StoreKind.available)
    func `a record keeps its newest entries within count and bytes, and others keep theirs`(_ kind: StoreKind)
        async throws
    {
        var limits = StoreLimits()
        limits.ledgerEntriesMax = 3
        limits.ledgerBytesMax = 60
        try await kind.withStore(limits: limits) { under in
            try await overwrite(under, of: .numbered(2))
            for number: Int64 in 1...5 { try await overwrite(under, old: .integer(number), new: 0) }
            #expect(try await history(under).entries.map(\.value.old) == [5, 4, 3])
            try await overwrite(under, old: .string(String(repeating: "x", count: 55)), new: 0)
            #expect(try await history(under).entries.map(\.seq) == [7, 6])
            try await overwrite(under, old: .string(String(repeating: "x", count: 200)), new: 0)
            #expect(try await history(under).entries.map(\.seq) == [8], "the newest stays whatever its size")
            try await overwrite(under, ["a", "b", "c", "d"], old: 1, new: 0)
            #expect(try await history(under).entries.map(\.seq) == [9, 9, 9, 9], "and as many fields as it has")
            try await overwrite(under, old: 1, new: 0)
            #expect(try await history(under).entries.map(\.seq) == [10], "entries of one write go together")
            let other = try await under.store.history(
                of: RecordKey(collection: "message", id: .numbered(2)), scope: .a, before: .max, limit: 9,
                in: under.workspace)
            #expect(other.entries.count == 1)
        }
    }

    @Test(arguments: StoreKind.available)
    func `expired entries are not returned`(_ kind: StoreKind) async throws {
        var limits = StoreLimits()
        limits.ledgerLifetime = 1_000
        try await kind.withStore(limits: limits) { under in
            for time: Milliseconds in [1_000, 1_500, 2_400] { try await overwrite(under, time: time) }
            #expect(try await history(under).entries.map(\.time) == [2_400, 1_500])
        }
    }

    @Test(arguments: StoreKind.available)
    func `an entry of another batch is refused`(_ kind: StoreKind) async throws {
        try await kind.withStore { under async throws in
            await #expect(throws: StoreError.self) {
                try await under.commit { [key] draft in
                    draft.skip()
                    draft.tamper { batch in
                        batch.ledger = [
                            LedgerEntry(
                                key: key, scope: .a, seq: 2,
                                value: OverwrittenValue(field: "text", rule: .lww, old: 1, new: 2), oldAuthor: nil,
                                author: .ann, client: .numbered(8), app: nil, time: 1_000)
                        ]
                    }
                }
            }
            #expect(try await history(under).entries.isEmpty)
        }
    }
}
