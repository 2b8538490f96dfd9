import Testing
import TidemarkModel
import TidemarkStore

/// The behaviour of every store of revocations.
@Suite struct RevocationTests {
    private let day: Milliseconds = 24 * 3_600_000

    private func kept(by under: StoreUnderTest) throws -> any RevocationStore {
        under.store
    }

    /// All pages of the revocations of the test's own workspaces.
    private func all(
        _ store: any RevocationStore, _ workspaces: [WorkspaceID], after number: Int64 = 0, limit: Int = 1_000
    ) async throws -> [Revocation] {
        var (found, place): ([Revocation], Int64) = ([], number)
        while true {
            let read = try await store.revocations(after: place, limit: limit)
            let page = read.revocations
            #expect(read.last >= page.last?.number ?? 0)
            #expect(page.count <= limit && page.map(\.number) == page.map(\.number).sorted())
            found += page.filter { workspaces.contains($0.workspace) }
            guard let last = page.last else { return found }
            place = last.number
        }
    }

    @Test(arguments: StoreKind.available)
    func `revocations are listed in order, and the later of two times applies`(_ kind: StoreKind) async throws {
        try await kind.withStore { under async throws in
            let (store, client) = (try kept(by: under), UniqueID(high: 7, low: 7))
            let other = WorkspaceID("\(under.workspace)-2")
            let subjects: [(Revocation.Subject, WorkspaceID)] = [
                (.workspace, under.workspace), (.user(.ann), under.workspace),
                (.client(client, of: .ann), under.workspace),
                (.user(.ann), other),
            ]
            var given: [Revocation] = []
            for (place, subject) in subjects.enumerated() {
                given.append(
                    try await store.revoke(
                        subject.0, before: 1_000 * day + Int64(place), in: subject.1, now: 1_000 * day))
            }
            #expect(given.map(\.notBefore) == (0..<4).map { 1_000 * day + Int64($0) })
            #expect(zip(given, given.dropFirst()).allSatisfy { $0.number < $1.number })
            let spaces = [under.workspace, other]
            #expect(try await all(store, spaces) == given)
            #expect(try await all(store, spaces, limit: 1) == given)
            #expect(try await all(store, spaces, after: given[1].number) == Array(given.dropFirst(2)))
            // An earlier time takes nothing back, and is listed again.
            let again = try await store.revoke(.user(.ann), before: 5, in: under.workspace, now: 1_000 * day)
            #expect(again.notBefore == given[1].notBefore && again.number > given[3].number)
            #expect(try await all(store, spaces) == [given[0], given[2], given[3], again])
        }
    }

    @Test(arguments: StoreKind.available)
    func `revocations older than any token are forgotten, and numbers continue`(_ kind: StoreKind) async throws {
        try await kind.withStore { under async throws in
            let store = try kept(by: under)
            let old = try await store.revoke(.user(.ann), before: 10 * day, in: under.workspace, now: 10 * day)
            #expect(try await all(store, [under.workspace]) == [old])
            let later = 10 * day + Revocation.keptFor
            let next = try await store.revoke(.user(.bob), before: later, in: under.workspace, now: later)
            #expect(try await all(store, [under.workspace]) == [old, next])
            let last = try await store.revoke(.user(.bob), before: later, in: under.workspace, now: later + 1)
            #expect(try await all(store, [under.workspace]) == [last])
            #expect(old.number < next.number && next.number < last.number)
        }
    }

    @Test(arguments: StoreKind.available)
    func `a clock that is months ahead makes the store forget none`(_ kind: StoreKind) async throws {
        try await kind.withStore { under async throws in
            let store = try kept(by: under)
            try await under.commit(time: 10 * day) { $0.skip() }
            let old = try await store.revoke(.user(.ann), before: 10 * day, in: under.workspace, now: 10 * day)
            let ahead = try await store.revoke(.user(.bob), before: 130 * day, in: under.workspace, now: 130 * day)
            #expect(try await all(store, [under.workspace]) == [old, ahead])
        }
    }

    @Test(arguments: StoreKind.available)
    func `of many revocations at once each is listed for readers that continue`(_ kind: StoreKind) async throws {
        try await kind.withStore { under async throws in
            let (store, workspace) = (try kept(by: under), under.workspace)
            let reader = Task {
                var (found, place): (Set<Revocation.Subject>, Int64) = ([], 0)
                while found.count < 40 {
                    for revocation in try await store.revocations(after: place, limit: 7).revocations {
                        place = revocation.number
                        if revocation.workspace == workspace { found.insert(revocation.subject) }
                    }
                    await Task.yield()
                }
                return found
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<40 {
                    group.addTask {
                        _ = try await store.revoke(
                            .user(UserID("u\(number)")), before: 2_000 * day, in: workspace, now: 2_000 * day)
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await reader.value == Set((0..<40).map { .user(UserID("u\($0)")) }))
        }
    }

    @Test(arguments: StoreKind.available)
    func `devices are listed by workspace and user, page by page, with their details`(_ kind: StoreKind) async throws {
        try await kind.withStore { under async throws in
            let (store, workspace) = (try kept(by: under), under.workspace)
            let ids = (0..<5 as Range<UInt64>).map { UniqueID(high: 9, low: $0) }
            for (place, id) in ids.enumerated() {
                _ = try await under.store.register(id, for: place % 2 == 0 ? .ann : .bob, in: workspace, now: 50)
            }
            let sighting = SeenClient(ids[1], at: 90, app: "shop 2", written: 7, position: 40)
            _ = try await under.store.saw([sighting, SeenClient(UniqueID(high: 8, low: 1), at: 90)], in: workspace)
            // Details that a later sighting lacks stay.
            _ = try await under.store.saw([SeenClient(ids[1], at: 95, position: 41)], in: workspace)
            let first = try await store.devices(of: nil, in: workspace, after: nil, limit: 3)
            #expect(first.map(\.id) == Array(ids[..<3]) && first.map(\.user) == [.ann, .bob, .ann])
            let rest = try await store.devices(of: nil, in: workspace, after: ids[2], limit: 3)
            #expect(rest.map(\.id) == Array(ids[3...]))
            let own = try await store.devices(of: .bob, in: workspace, after: nil, limit: 10)
            #expect(
                own.map(\.id) == [ids[1], ids[3]] && own.map(\.seen)[0] == 95 && own.map(\.registered) == [50, 50])
            #expect(own.map(\.app) == ["shop 2", nil] && own.map(\.written) == [7, nil])
            #expect(own.map(\.position) == [41, nil])
            #expect(own.allSatisfy { $0.settledThrough == 0 && $0.ackedThrough == 0 })
            #expect(try await store.owner(of: ids[3], in: workspace) == .bob)
            #expect(try await store.owner(of: ids[3], in: WorkspaceID("elsewhere")) == nil)
            #expect(try await store.owner(of: UniqueID(high: 8, low: 1), in: workspace) == nil)
            #expect(try await store.devices(of: nil, in: WorkspaceID("elsewhere"), after: nil, limit: 3).isEmpty)
        }
    }
}
