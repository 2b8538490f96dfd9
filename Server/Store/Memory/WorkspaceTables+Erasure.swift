import TidemarkLock
package import TidemarkModel

extension WorkspaceTables {
    /// See `Erasing.erase`.
    mutating func erase(_ scope: ScopeID, keeping graves: Set<RecordKey>, limit: Int) -> ErasureStep {
        var machine = ScopeErasureMachine(scope, keeping: graves, limit: limit)
        machine.run { answer($0) }
        return machine.step
    }

    /// See `Erasing.eraseTraces`.
    mutating func eraseTraces(of user: UserID, as alias: UserID) -> ErasureStep {
        var step = ErasureStep()
        endedMemberships.removeAll { $0.user == user }
        accounts.erase(user)
        let name = FieldValue.string(user.text).json
        for (key, record) in records where String(decoding: record.buried, as: UTF8.self).contains(name) {
            records[key]?.buried = []
        }
        for (key, entries) in ledger {
            ledger[key] = entries.map { entry in
                var entry = entry
                if entry.author == user { (entry.author, entry.client) = (alias, UniqueID(high: 0, low: 0)) }
                if entry.oldAuthor == user { entry.oldAuthor = alias }
                if entry != entries.first(where: { $0.seq == entry.seq && $0.value.field == entry.value.field }) {
                    step.ledgerEntries += 1
                }
                return entry
            }
        }
        for index in batches.indices where batches[index].batch != nil {
            batches[index].batch = nil
            step.bodies += 1
        }
        return step
    }

    func erasureCounts(of scope: ScopeID) -> ErasureCounts {
        var counts = ErasureCounts()
        for record in records.values where record.scope == scope {
            if record.isDeleted { counts.tombstones += 1 } else { counts.records += 1 }
            counts.bytes += Int64(record.body.count)
            counts.ledgerEntries += ledger[record.key]?.count ?? 0
        }
        counts.bodies = batches.count { $0.batch != nil }
        return counts
    }

    func members(of scope: ScopeID, after position: Seat?, limit: Int) -> MemberPage {
        let seats = grants.flatMap { user, held in held.keys.map { Seat(user: user, scope: $0) } }
            .sorted { ($0.user, $0.scope) < ($1.user, $1.scope) }
            .drop { seat in position.map { (seat.user, seat.scope) <= ($0.user, $0.scope) } ?? false }
        let some = seats.prefix(max(1, limit))
        return MemberPage(
            users: some.filter { $0.scope == scope }.map(\.user), next: some.count < seats.count ? some.last : nil)
    }
}

extension MemoryTables {
    /// See `Erasing.beginErasure`.
    package mutating func beginErasure(of scope: ScopeID, in workspace: WorkspaceID) -> SequenceNumber? {
        guard let head = workspaces[workspace]?.head.seq, head > 0 else { return nil }
        workspaces[workspace]?.erased[scope] = (head, false)
        return head
    }

    /// Returns whether the scope accepts no living records any more.
    package func isErased(_ scope: ScopeID, in workspace: WorkspaceID) -> Bool {
        workspaces[workspace]?.erased[scope] != nil
    }

    /// See `Erasing.members`.
    package func members(
        of scope: ScopeID, in workspace: WorkspaceID, after position: Seat?, limit: Int
    ) -> MemberPage {
        workspaces[workspace]?.members(of: scope, after: position, limit: limit) ?? MemberPage(users: [], next: nil)
    }

    /// See `Erasing.erase`.
    package mutating func erase(
        _ scope: ScopeID, in workspace: WorkspaceID, keeping graves: Set<RecordKey>, limit: Int
    ) -> ErasureStep {
        workspaces[workspace]?.erase(scope, keeping: graves, limit: limit) ?? ErasureStep()
    }
}

extension InMemoryStore: Erasing {
    package func erasureCounts(
        of scope: ScopeID, in workspace: WorkspaceID
    ) async throws(StoreError) -> ErasureCounts {
        tables.withLock { $0.workspaces[workspace]?.erasureCounts(of: scope) } ?? ErasureCounts()
    }

    package func beginErasure(
        of scope: ScopeID, in workspace: WorkspaceID, now: Milliseconds
    ) async throws(StoreError) -> SequenceNumber? {
        tables.withLock { $0.beginErasure(of: scope, in: workspace) }
    }

    package func members(
        of scope: ScopeID, in workspace: WorkspaceID, after position: Seat?, limit: Int
    ) async throws(StoreError) -> MemberPage {
        tables.withLock { $0.members(of: scope, in: workspace, after: position, limit: limit) }
    }

    package func erase(
        _ scope: ScopeID, in workspace: WorkspaceID, keeping graves: Set<RecordKey>, limit: Int
    ) async throws(StoreError) -> ErasureStep {
        tables.withLock { $0.erase(scope, in: workspace, keeping: graves, limit: limit) }
    }

    package func endErasure(
        of scope: ScopeID, in workspace: WorkspaceID, now: Milliseconds
    ) async throws(StoreError) {
        tables.withLock { tables in
            guard let head = tables.workspaces[workspace]?.head.seq else { return }
            tables.workspaces[workspace]?.erased[scope] = (head, true)
        }
    }

    package func openErasures(in workspace: WorkspaceID) async throws(StoreError) -> [ScopeID] {
        tables.withLock { $0.workspaces[workspace]?.erased.filter { !$0.value.isOver }.keys.sorted() ?? [] }
    }

    package func beginErasure(of workspace: WorkspaceID, now: Milliseconds) async throws(StoreError) -> Bool {
        tables.withLock { tables in
            guard tables.workspaces.removeValue(forKey: workspace) != nil || tables.erased.contains(workspace) else {
                return false
            }
            tables.erased.insert(workspace)
            return true
        }
    }

    package func erase(
        _ workspace: WorkspaceID, from position: ErasurePlace?, limit: Int
    ) async throws(StoreError) -> WorkspaceErasureStep { WorkspaceErasureStep(rows: 0, isDone: true) }

    package func endErasure(of workspace: WorkspaceID, now: Milliseconds) async throws(StoreError) {}

    package func beginErasure(
        of user: UserID, as alias: UserID, in workspace: WorkspaceID, now: Milliseconds
    ) async throws(StoreError) -> UserID? {
        tables.withLock { tables in
            guard let held = tables.workspaces[workspace] else { return nil }
            let known = held.erasedUsers[user] ?? alias
            tables.workspaces[workspace]?.erasedUsers[user] = known
            return known
        }
    }

    package func records(
        by user: UserID, in workspace: WorkspaceID, after position: ErasurePlace?, limit: Int
    ) async throws(StoreError) -> AuthoredPage {
        tables.withLock { tables in
            let all = tables.workspaces[workspace]?.records.values.filter { $0.author == user } ?? []
            let rest = all.sorted { $0.key < $1.key }.drop { record in position.map { record.key <= $0.key } ?? false }
            let some = Array(rest.prefix(max(1, limit)))
            let next = some.last.map { ErasurePlace(isPastRecords: false, key: $0.key, workspace: workspace) }
            return AuthoredPage(records: some, next: some.count < rest.count ? next : nil)
        }
    }

    package func eraseTraces(
        of user: UserID, as alias: UserID, in workspace: WorkspaceID, limit: Int
    ) async throws(StoreError) -> ErasureStep {
        tables.withLock { tables in
            for index in tables.acts.indices where tables.acts[index].workspace == workspace {
                if tables.acts[index].user == user { tables.acts[index].user = alias }
            }
            return tables.workspaces[workspace]?.eraseTraces(of: user, as: alias) ?? ErasureStep()
        }
    }

    package func endErasure(of user: UserID, in workspace: WorkspaceID) async throws(StoreError) {
        tables.withLock { $0.workspaces[workspace]?.erasedUsers[user] = nil }
    }

    package func scrub() async throws(StoreError) {}

    package func emptyLog() async throws(StoreError) {}
}

extension InMemoryBlobStore: BlobErasing {
    package func erasureUsage(of scope: ScopeID, in workspace: WorkspaceID) async throws(StoreError) -> BlobUsage {
        tables.withLock { $0.erasureUsage(of: scope, in: workspace) }
    }

    package func eraseBlobs(of scope: ScopeID, in workspace: WorkspaceID) async throws(StoreError) -> BlobUsage {
        tables.withLock { $0.eraseBlobs(of: scope, in: workspace) }
    }

    package func eraseBlobs(by user: UserID, in workspace: WorkspaceID) async throws(StoreError) -> BlobUsage {
        tables.withLock { $0.eraseBlobs(by: user, in: workspace) }
    }

    package func eraseBlobs(of workspace: WorkspaceID) async throws(StoreError) -> BlobUsage {
        tables.withLock { $0.eraseBlobs(of: workspace) }
    }

    package func scrubBlobs() async throws(StoreError) {}
}
