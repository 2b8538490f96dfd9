import Testing
import TidemarkModel
import TidemarkStore

@Suite struct WindowTests {
    /// Writes ten batches of three numbers: two records in scope a or b, and one number without a record.
    private func fill(_ under: StoreUnderTest) async throws -> [CommittedBatch] {
        var batches: [CommittedBatch] = []
        for batch in 0..<10 {
            let scope: ScopeID = batch.isMultiple(of: 2) ? .a : .b
            batches.append(
                try await under.commit { draft in
                    draft.put(.numbered(Int64(batch * 2)), in: scope)
                    draft.put(.numbered(Int64(batch * 2 + 1)), in: scope)
                    draft.skip()
                })
        }
        return batches
    }

    @Test(arguments: StoreKind.available)
    func `a window ends at the first batch end that is its span away`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            let batches = try await fill(under)
            for (span, index) in [(1, 0), (3, 0), (4, 1), (10, 3), (30, 9), (1_000, 9), (.max, 9), (0, 0), (-5, 0)] {
                let window = try await under.store.window(
                    scopes: [.a, .b], after: 0, span: Int64(span), in: under.workspace)
                #expect(window.through == batches[index].head, "span \(span)")
                #expect(window.records == batches[...index].flatMap(\.records), "span \(span)")
                #expect(window.head == batches[9].head)
            }
        }
    }

    @Test(arguments: StoreKind.available)
    func `windows and snapshots name the batch that holds the number they continue from`(_ kind: StoreKind) async throws
    {
        try await kind.withStore { under in
            let (batches, store, workspace) = (try await fill(under), under.store, under.workspace)
            for (seq, head) in [
                (0, nil), (1, batches[0].head), (3, batches[0].head), (4, batches[1].head), (30, batches[9].head),
                (31, nil), (.max, nil),
            ] as [(SequenceNumber, Head?)] {
                let window = try await store.window(scopes: [.a], after: seq, span: 3, in: workspace)
                let snapshot = try await store.session(for: .ann, client: nil, holding: seq, in: workspace)
                #expect(window.base == head && snapshot.lineage == head, "number \(seq)")
                #expect(snapshot.head == batches[9].head)
            }
            #expect(try await store.session(for: .ann, client: nil, in: workspace).lineage == nil)
        }
    }

    @Test(arguments: StoreKind.available, [1, 4, 7, 100] as [Int64])
    func `windows together have every record once, in order`(_ kind: StoreKind, _ span: Int64) async throws {
        try await kind.withStore { under in
            let batches = try await fill(under)
            let windows = try await under.windows([.b, .a], span: span)
            #expect(windows.flatMap(\.records) == batches.flatMap(\.records))
            let later = try await under.windows([.a, .b], after: 12, span: span)
            #expect(later.flatMap(\.records) == batches[4...].flatMap(\.records))
        }
    }

    @Test(arguments: StoreKind.available)
    func `a window shows only its scopes and skips the rest`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            let batches = try await fill(under)
            let one = try await under.windows([.a], span: 6)
            #expect(one.flatMap(\.records) == batches.flatMap(\.records).filter { $0.scope == .a })
            let none = try await under.windows([.c], span: 6)
            #expect(none.count == 5)
            #expect(none.allSatisfy { $0.records.isEmpty })
            #expect(none.last?.through == batches[9].head)
            let nowhere = try await under.store.window(scopes: [], after: 0, span: 6, in: under.workspace)
            #expect(nowhere.through == batches[1].head && nowhere.records.isEmpty)
            let twice = try await under.store.window(scopes: [.a, .a], after: 0, span: 3, in: under.workspace)
            #expect(twice.records == batches[0].records)
        }
    }

    @Test(arguments: StoreKind.available)
    func `a record that changed again is only at its new number, and tombstones are shown`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withStore { under in
            try await under.commit { draft in
                for number: Int64 in 1...3 { draft.put(.numbered(number)) }
            }
            try await under.commit { $0.put(.numbered(1), born: 1, body: #"{"text":"edited"}"#) }
            let last = try await under.commit { $0.put(.numbered(3), born: 3, body: nil) }
            let window = try await under.store.window(scopes: [.a], after: 0, span: 100, in: under.workspace)
            #expect(window.records.map(\.seq) == [2, 4, 5])
            #expect(window.records.map(\.born) == [2, 1, 3])
            #expect(window.records.last == last.records[0])
            #expect(window.records.last?.isDeleted == true && window.records.last?.body == [])
        }
    }

    @Test(arguments: StoreKind.available)
    func `a window with too many bytes ends at the last batch end that fits`(_ kind: StoreKind) async throws {
        var limits = StoreLimits()
        limits.readBytesMax = 1_000
        try await kind.withStore(limits: limits) { under in
            let body = "\"" + String(repeating: "x", count: 398) + "\""
            var batches: [CommittedBatch] = []
            for batch: Int64 in 0..<4 {
                batches.append(
                    try await under.commit { draft in
                        draft.put(.numbered(batch), body: body)
                        draft.skip()
                    })
            }
            let windows = try await under.windows([.a], span: 100)
            #expect(windows.map(\.through) == [batches[1].head, batches[3].head])
            #expect(windows.map(\.records.count) == [2, 2])
        }
    }

    @Test(arguments: StoreKind.available)
    func `a huge row is sent alone`(_ kind: StoreKind) async throws {
        var limits = StoreLimits()
        limits.readBytesMax = 1_000
        try await kind.withStore(limits: limits) { under in
            let huge = "\"" + String(repeating: "x", count: 5_000) + "\""
            let first = try await under.commit { $0.put(.numbered(1)) }
            let second = try await under.commit { $0.put(.numbered(2), body: huge) }
            let third = try await under.commit { $0.put(.numbered(3)) }
            let windows = try await under.windows([.a], span: 100)
            #expect(windows.map(\.records) == [first.records, second.records, third.records])
            #expect(windows.map(\.through) == [first.head, second.head, third.head])
        }
    }

    @Test(arguments: StoreKind.available)
    func `one batch beyond the bytes is cut inside, with its own nonce`(_ kind: StoreKind) async throws {
        var limits = StoreLimits()
        limits.readBytesMax = 1_000
        try await kind.withStore(limits: limits) { under in
            let body = "\"" + String(repeating: "x", count: 398) + "\""
            try await under.commit { $0.skip(4) }
            let batch = try await under.commit { draft in
                for number: Int64 in 1...5 { draft.put(.numbered(number), body: body) }
            }
            let windows = try await under.windows([.a], span: 100)
            #expect(windows.map(\.records.count) == [2, 2, 1])
            #expect(windows.map(\.through.seq) == [6, 8, 9])
            #expect(windows.allSatisfy { $0.through.nonce == batch.head.nonce && $0.head == batch.head })
        }
    }

    @Test(arguments: StoreKind.available)
    func `changed scopes are those with a later number`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            try await under.commit { $0.put(.numbered(1), in: .a) }
            try await under.commit { $0.put(.numbered(2), in: .b) }
            try await under.commit { $0.put(.numbered(1), in: .a, born: 1, body: nil) }
            let asked: [ScopeID] = [.a, .b, .c]
            for (seq, expected) in [(0, [.a, .b]), (1, [.a, .b]), (2, [.a]), (3, [])] as [(Int64, [ScopeID])] {
                let changed = try await under.store.changedScopes(among: asked, after: seq, in: under.workspace)
                #expect(changed.sorted() == expected, "after \(seq)")
            }
        }
    }
}
