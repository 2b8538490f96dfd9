import Testing
import TidemarkModel
import TidemarkStore

/// A database that went back begins a new epoch, once, and only on proof.
@Suite struct LineageTests {
    private func raise(
        _ condition: EpochRaise.Condition, _ reason: EpochReason = .head, nonce: UInt64 = 77, now: Milliseconds = 5_000
    ) -> EpochRaise { EpochRaise(condition, reason: reason, nonce: nonce, now: now) }

    private func gone(_ head: Head) -> Head {
        var gone = head
        gone.seq += 40
        gone.nonce = 4
        return gone
    }

    @Test(arguments: StoreKind.available)
    func `an epoch begins with a batch of its own, and the order continues in it`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            let before = try await under.commit { $0.put(.numbered(1)) }.head
            let outcome = try await under.store.raiseEpoch(raise(.lost(gone(before))), in: under.workspace)
            let start = EpochStart(
                epoch: 2, first: before.seq + 1, baseNonce: before.nonce, time: 5_000, reason: .head,
                lost: before.seq + 40)
            let head = Head(seq: before.seq + 1, nonce: 77, time: 5_000, epoch: 2)
            #expect(outcome == .raised(start, head))
            #expect(try await under.store.lineage(of: under.workspace) == [start])
            #expect(try await under.read(ReadSet()).head == head)
            let after = try await under.commit { $0.put(.numbered(2)) }
            #expect(after.low == head.seq + 1 && after.head.epoch == 2)
            #expect(try await under.store.batch(holding: head.seq, in: under.workspace) == head)
        }
    }

    /// Two nodes notice at once, and one notices late.
    @Test(arguments: StoreKind.available)
    func `of many nodes that noticed the same rewind one has an effect`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            let before = try await under.commit { $0.put(.numbered(1)) }.head
            let (store, workspace, lost) = (under.store, under.workspace, gone(before))
            let outcomes = try await withThrowingTaskGroup(of: EpochOutcome.self) { group in
                for nonce: UInt64 in 1...6 {
                    group.addTask { try await store.raiseEpoch(raise(.lost(lost), nonce: nonce), in: workspace) }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            let raised = outcomes.filter { if case .raised = $0 { true } else { false } }
            #expect(raised.count == 1 && Set(outcomes.map(\.head)).count == 1)
            var later = lost
            later.seq += 7
            let late = try await store.raiseEpoch(raise(.lost(later), nonce: 9), in: workspace)
            #expect(late == .stands(outcomes[0].head))
            #expect(try await store.lineage(of: workspace).count == 1)
        }
    }

    @Test(arguments: StoreKind.available)
    func `stored batches, those behind the horizon, and those that an earlier epoch lost are no proof`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withStore { under in
            for number: Int64 in 1...4 { try await under.commit(time: number * 10) { $0.put(.numbered(number)) } }
            let head = try await under.read(ReadSet()).head
            let (store, workspace) = (under.store, under.workspace)
            let second = try #require(try await store.batch(holding: 2, in: workspace))
            for batch in [head, second, Head.start] {
                #expect(try await store.raiseEpoch(raise(.lost(batch)), in: workspace) == .stands(head))
            }
            let order = CompactionOrder(time: 40, scopeCollections: [])
            #expect(try await store.compact(workspace, order).horizon == 3)
            #expect(try await store.raiseEpoch(raise(.lost(second)), in: workspace) == .stands(head))
            #expect(try await store.raiseEpoch(raise(.standing(2)), in: workspace) == .stands(head))
            #expect(try await store.lineage(of: workspace).isEmpty)
            guard
                case .raised(_, let raised) = try await store.raiseEpoch(
                    raise(.standing(1), .restore), in: workspace)
            else {
                Issue.record("a restore begins an epoch")
                return
            }
            #expect(try await store.raiseEpoch(raise(.lost(gone(head))), in: workspace) == .stands(raised))
        }
    }

    /// The database was restored from before an epoch that a node or a client has seen: no epoch is given twice.
    @Test(arguments: StoreKind.available)
    func `an epoch is above all known ones`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            var lost = try await under.commit { $0.put(.numbered(1)) }.head
            lost.seq = 90
            lost.epoch = 6
            guard
                case .raised(let start, let head) = try await under.store.raiseEpoch(
                    raise(.lost(lost), .cursor), in: under.workspace)
            else {
                Issue.record("a batch of a later epoch that is not stored is a proof")
                return
            }
            #expect(start.epoch == 7 && start.reason == .cursor && head.epoch == 7)
            lost.epoch = .max
            #expect(try await under.store.raiseEpoch(raise(.lost(lost)), in: under.workspace) == .stands(head))
        }
    }

    @Test(arguments: StoreKind.available)
    func `a workspace that is not in the database yet begins with an epoch`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            let lost = Head(seq: 12, nonce: 5, time: 0, epoch: 1)
            let outcome = try await under.store.raiseEpoch(raise(.lost(lost)), in: under.workspace)
            #expect(outcome.head == Head(seq: 1, nonce: 77, time: 5_000, epoch: 2))
            let row = try await under.register(.numbered(50), for: .ann)
            let batch = try await under.commit {
                $0.put(.numbered(1))
                $0.settle(row, through: 1)
            }
            #expect(batch.low == 2 && batch.head.epoch == 2)
        }
    }

    /// Following nodes read it as any other batch, also one that committed nothing else.
    @Test(arguments: StoreKind.available)
    func `the batch keeps its body for every node`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            let before = try await under.commit { $0.put(.numbered(1)) }.head
            _ = try await under.store.raiseEpoch(raise(.standing(1), .command), in: under.workspace)
            let read = try await under.store.tail(after: before.seq, limit: 5, in: under.workspace)
            #expect(read.base == before)
            #expect(read.batches.map(\.head.epoch) == [2])
            #expect(read.batches.first?.batch?.records.isEmpty == true)
        }
    }
}
