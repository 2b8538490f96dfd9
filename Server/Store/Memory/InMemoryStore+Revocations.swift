import TidemarkLock
package import TidemarkModel

extension InMemoryStore: RevocationStore {
    package func revoke(
        _ subject: Revocation.Subject, before notBefore: Milliseconds, in workspace: WorkspaceID, now: Milliseconds
    ) async throws(StoreError) -> Revocation {
        tables.withLock { $0.revoke(subject, before: notBefore, in: workspace, now: now) }
    }

    package func revocations(after number: Int64, limit: Int) async throws(StoreError) -> RevocationPage {
        tables.withLock { $0.revocations(after: number, limit: limit) }
    }

    package func owner(of client: ClientID, in workspace: WorkspaceID) async throws(StoreError) -> UserID? {
        tables.withLock { $0.storedClients([client], in: workspace).first?.row.user }
    }

    package func devices(
        of user: UserID?, in workspace: WorkspaceID, after last: ClientID?, limit: Int
    ) async throws(StoreError) -> [Device] {
        tables.withLock { $0.devices(of: user, in: workspace, after: last, limit: limit) }
    }
}

/// The revocations in the order of their numbers.
struct MemoryRevocations: Sendable {
    var all: [Revocation] = []
    var number: Int64 = 0
}

extension MemoryTables {
    /// See `RevocationStore.revoke`.
    package mutating func revoke(
        _ subject: Revocation.Subject, before notBefore: Milliseconds, in workspace: WorkspaceID, now: Milliseconds
    ) -> Revocation {
        revoked.number += 1
        let old = clockWitness.bounding(now) - Revocation.keptFor
        revoked.all.removeAll { $0.notBefore < old }
        var next = Revocation(subject, in: workspace, notBefore: notBefore, number: revoked.number)
        let known = revoked.all.firstIndex {
            $0.workspace == workspace && $0.subject.kind == subject.kind && $0.subject.name == subject.name
        }
        if let known { next.notBefore = max(notBefore, revoked.all.remove(at: known).notBefore) }
        revoked.all.append(next)
        return next
    }

    /// See `RevocationStore.revocations`.
    package func revocations(after number: Int64, limit: Int) -> RevocationPage {
        RevocationPage(
            last: revoked.number, revocations: Array(revoked.all.filter { $0.number > number }.prefix(limit)))
    }

    /// See `RevocationStore.devices`; this store records no apps.
    package func devices(
        of user: UserID?, in workspace: WorkspaceID, after last: ClientID?, limit: Int
    ) -> [Device] {
        workspaces[workspace]?.devices(of: user, after: last, limit: limit) ?? []
    }
}

extension WorkspaceTables {
    fileprivate func devices(of user: UserID?, after last: ClientID?, limit: Int) -> [Device] {
        clients.values.map(\.row).filter { row in
            (user == nil || row.user == user) && (last.map { row.id > $0 } ?? true)
        }
        .sorted { $0.id < $1.id }.prefix(limit)
        .map { row in
            let sighting = sightings[row.id]
            var device = Device(
                id: row.id, user: row.user, registered: sighting?.registered ?? 0, seen: sighting?.last.time ?? 0,
                app: sighting?.last.app, settledThrough: row.settledThrough, ackedThrough: row.ackedThrough)
            (device.written, device.position) = (sighting?.last.written, sighting?.last.position)
            return device
        }
    }
}
