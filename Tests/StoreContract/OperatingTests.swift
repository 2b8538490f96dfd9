import Testing
import TidemarkModel
import TidemarkStore

/// Data that every store keeps for operators: their acts, ended memberships, and lookups.
@Suite struct OperatingTests {
    private func inspecting(_ under: StoreUnderTest) throws -> any Inspecting {
        under.store
    }

    private func ended(
        _ under: StoreUnderTest, _ user: UserID = .ann, scope: ScopeID? = nil, limit: Int = 10
    ) async throws -> [EndedMembership] {
        try await inspecting(under).endedMemberships(of: user, scope: scope, in: under.workspace, limit: limit)
    }

    @Test(arguments: StoreKind.available)
    func `acts are stored in their order, with their results`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            let log = under.store
            var revoke = OperatorAct(
                .revoke, by: "ann's laptop", at: 5, in: under.workspace, user: .bob, argument: "all", reason: "lost")
            var apply = OperatorAct(.schemaApply, by: "root", at: 6, argument: String(repeating: "é", count: 400))
            #expect(apply.argument.utf8.count <= OperatorAct.textBytesMax)
            revoke.number = try await log.begin(revoke)
            apply.number = try await log.begin(apply)
            #expect(apply.number > revoke.number && revoke.number > 0)
            try await log.end(revoke.number, OperatorAct.done)
            revoke.outcome = "done"
            #expect(try await log.acts(before: apply.number + 1, limit: 2) == [apply, revoke])
            #expect(try await log.acts(before: apply.number + 1, limit: 1) == [apply])
            #expect(try await log.acts(before: apply.number, limit: 1) == [revoke])
            #expect(try await log.acts(before: .max, limit: 0).isEmpty)
        }
    }

    @Test(arguments: StoreKind.available)
    func `a failed act is stored as such, and its error is rethrown`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            let log = under.store
            let act = OperatorAct(.compact, by: "root", at: 7, in: under.workspace)
            await #expect(throws: StoreError.self) {
                try await log.keeping(act) { throw StoreError(.data, "there is no such workspace") }
            }
            #expect(try await log.keeping(act) { 3 } == 3)
            let kept = try await log.acts(before: .max, limit: 50).filter { $0.workspace == under.workspace }
            #expect(kept.count == 2 && kept.first?.outcome == OperatorAct.done)
            #expect(kept.last?.outcome?.contains("there is no such workspace") == true)
        }
    }

    @Test(arguments: StoreKind.available)
    func `a membership that ends is stored with its numbers and its last role`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            try await under.commit { draft in
                draft.grant(.ann, .a)
                draft.grant(.ann, .b)
                draft.grant(.bob, .a)
            }
            #expect(try await ended(under).isEmpty)
            try await under.commit { $0.changeRole(.ann, .a, .admin) }
            try await under.commit { $0.revoke(.ann, .a) }
            let first = EndedMembership(user: .ann, scope: .a, role: .admin, since: 1, ended: 5)
            #expect(try await ended(under) == [first])
            try await under.commit { $0.grant(.ann, .a) }
            // It ends and begins again within one batch.
            try await under.commit { draft in
                draft.revoke(.ann, .a)
                draft.grant(.ann, .a)
            }
            let second = EndedMembership(user: .ann, scope: .a, role: .member, since: 6, ended: 7)
            #expect(try await ended(under) == [second, first])
            #expect(try await ended(under, limit: 1) == [second])
            #expect(try await ended(under, scope: .b).isEmpty)
            #expect(try await ended(under, .bob).isEmpty)
            let grants = try await under.store.session(for: .ann, client: nil, in: under.workspace).grants
            #expect(Set(grants.map(\.since)) == [2, 8])
        }
    }

    @Test(arguments: StoreKind.available)
    func `ended memberships are deleted with their user, their scope, and behind the horizon`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withStore { under in
            for user in [UserID.ann, .bob] {
                for scope in [ScopeID.a, .b] {
                    try await under.commit { $0.grant(user, scope) }
                    try await under.commit { $0.revoke(user, scope) }
                }
            }
            #expect(try await ended(under).count == 2)
            let erasing = under.store
            _ = try await erasing.beginErasure(of: .a, in: under.workspace, now: 2_000)
            _ = try await erasing.erase(.a, in: under.workspace, keeping: [], limit: 10)
            #expect(try await ended(under).map(\.scope) == [.b])
            #expect(try await ended(under, .bob).map(\.scope) == [.b])
            let log = under.store
            let number = try await log.begin(
                OperatorAct(.eraseUser, by: "root", at: 1, in: under.workspace, user: .bob))
            _ = try await erasing.beginErasure(of: .bob, as: UserID("erased-1"), in: under.workspace, now: 2_000)
            _ = try await erasing.eraseTraces(of: .bob, as: UserID("erased-1"), in: under.workspace, limit: 10)
            #expect(try await ended(under, .bob).isEmpty)
            #expect(try await ended(under).count == 1)
            let act = try await log.acts(before: number + 1, limit: 1).first
            #expect(act?.user == UserID("erased-1"), "acts do not name who is erased")
            let compacting = under.store
            _ = try await under.commit(time: 900_000) { _ = $0.skip() }
            _ = try await under.commit(time: 900_001) { _ = $0.skip() }
            let order = CompactionOrder(time: 900_000, scopeCollections: [])
            while try await !compacting.compact(under.workspace, order).isDone {}
            #expect(try await ended(under).isEmpty)
        }
    }

    @Test(arguments: StoreKind.available)
    func `the writer of a batch is stored for operators if that is set, though no node needs it`(
        _ kind: StoreKind
    ) async throws {
        func bodies(_ limits: StoreLimits) async throws -> [Bool] {
            nonisolated(unsafe) var kept: [Bool] = []
            try await kind.withStore(limits: limits) { under in
                for number: Int64 in 1...3 { try await under.commit { $0.put(.numbered(number), in: .a) } }
                let read = try await under.store.tail(after: 0, limit: 10, in: under.workspace)
                kept = read.batches.map { $0.batch != nil }
            }
            return kept
        }
        var limits = StoreLimits()
        #expect(try await bodies(limits) == [false, false, false])
        limits.logLifetime = 86_400_000
        #expect(try await bodies(limits) == [true, true, true])
        limits.tailSpan = 1
        #expect(try await bodies(limits) == [false, false, true], "never beyond the span")
    }

    @Test(arguments: StoreKind.available)
    func `a record is found by its id alone, and a workspace by its name`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            let store = try inspecting(under)
            try await under.commit { draft in
                draft.put(.numbered(1), in: .a, collection: "notes", body: #"{"data":1}"#)
                draft.put(.numbered(1), in: .b, collection: "rooms", body: #"{"title":"t"}"#)
                draft.grant(.ann, .a)
            }
            let other = WorkspaceID("\(under.workspace)-2")
            let last = try await under.commit(in: other, time: 61_000) { $0.grant(.ann, .a) }
            let found = try await store.records(.numbered(1), in: under.workspace)
            #expect(found.map(\.key.collection) == ["notes", "rooms"] && found.map(\.scope) == [.a, .b])
            #expect(try await store.records(.numbered(2), in: under.workspace).isEmpty)
            #expect(try await store.records(.numbered(1), in: other).isEmpty)
            // One page at a time, in the order of the names.
            let before = WorkspaceID(String(under.workspace.text.dropLast()))
            var (seen, place): ([WorkspaceFigures], WorkspaceID?) = ([], before)
            while let some = try await store.workspaces(after: place, limit: 1).first, some.workspace <= other {
                seen.append(some)
                place = some.workspace
            }
            let own = try #require(seen.first { $0.workspace == under.workspace })
            #expect(own.head.seq == 3 && own.members == 1 && own.recent?.low == 1 && own.recent?.time == 1_000)
            #expect(own.perMinute(now: 61_000) == 3, "it falls while nothing is written")
            #expect(seen.last { $0.workspace == other }?.head == last.head)
        }
    }
}
