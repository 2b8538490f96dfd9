package import TidemarkModel
import TidemarkPostgres
package import TidemarkStore

extension PostgresStore: RevocationStore {
    /// See `RevocationStore.revoke`: one transaction; those of all workspaces run one after the other.
    package func revoke(
        _ subject: Revocation.Subject, before notBefore: Milliseconds, in workspace: WorkspaceID, now: Milliseconds
    ) async throws(StoreError) -> Revocation {
        var forgotten = Parameters()
        forgotten.add(try await clockWitness().bounding(now) - Revocation.keptFor)
        let statements =
            transactions.beginWrite + [
                FenceSQL.check(generation), Statement(RevocationSQL.forget, forgotten),
                Statement(RevocationSQL.revoke, workspace) {
                    $0.add(text: subject.kind)
                    $0.add(text: subject.name)
                    $0.add(text: subject.owner)
                    $0.add(notBefore)
                }, Transactions.commit,
            ]
        return try await on(reading) { connection in
            let found = try await connection.run(statements).dropLast().last?.first {
                (notBefore: try $0.integer(), number: try $0.integer())
            }
            guard let found else { throw StoreError(.invariant, "a revocation left no row") }
            return Revocation(subject, in: workspace, notBefore: found.notBefore, number: found.number)
        }
    }

    /// See `RevocationStore.revocations`: a range of an index.
    package func revocations(after number: Int64, limit: Int) async throws(StoreError) -> RevocationPage {
        var parameters = Parameters()
        parameters.add(number)
        parameters.add(Int64(limit))
        let results = try await read([Statement(RevocationSQL.last), Statement(RevocationSQL.list, parameters)])
        return RevocationPage(
            last: try results[0].first { try $0.integer() } ?? 0,
            revocations: try results[1].all { try $0.revocation() })
    }

    /// See `RevocationStore.owner`.
    package func owner(of client: ClientID, in workspace: WorkspaceID) async throws(StoreError) -> UserID? {
        try await read([Statement(RevocationSQL.owner, workspace) { $0.add(client) }])[0].first {
            UserID(try $0.text())
        }
    }

    /// See `RevocationStore.devices`.
    package func devices(
        of user: UserID?, in workspace: WorkspaceID, after cursor: ClientID?, limit: Int
    ) async throws(StoreError) -> [Device] {
        let statement = Statement(
            user == nil ? RevocationSQL.devices : RevocationSQL.devicesOfUser, workspace
        ) {
            $0.add(cursor ?? UniqueID(high: 0, low: 0))
            $0.add(Int64(limit))
            if let user { $0.add(text: user.text) }
        }
        return try await read([statement])[0].all { try $0.device() }
    }
}

extension RowReader {
    fileprivate mutating func revocation() throws -> Revocation {
        let workspace = WorkspaceID(try text())
        let (kind, name, owner) = (try text(), try text(), try text())
        guard let subject = Revocation.Subject(kind: kind, name: name, owner: owner) else {
            throw StoreError(.invariant, "a revocation has the unknown kind \"\(kind)\"")
        }
        return Revocation(subject, in: workspace, notBefore: try integer(), number: try integer())
    }

    fileprivate mutating func device() throws -> Device {
        Device(
            id: try id(), user: UserID(try text()), registered: try integer(), seen: try integer(),
            app: try optionalText(), settledThrough: try integer(), ackedThrough: try integer(),
            written: try optionalInteger(), position: try optionalInteger())
    }
}
