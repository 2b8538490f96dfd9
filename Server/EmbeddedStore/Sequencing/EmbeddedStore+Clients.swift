import GRDB
package import TidemarkModel
import TidemarkSQLite
package import TidemarkStore

extension EmbeddedStore {
    /// One write transaction.
    package func register(
        _ client: ClientID, for user: UserID, in workspace: WorkspaceID, now: Milliseconds
    ) async throws(StoreError) -> Registration {
        try await onWriter { [limits, erased] db in
            try erased.check(workspace)
            var answer = Registration.tooMany
            try db.inTransaction(.immediate) {
                let stored = try Prepared(EmbeddedSQL.client, db).first(
                    {
                        $0.text(workspace.text)
                        $0.id(client)
                    }, { try $0.storedClient().row })
                if let stored {
                    answer = stored.user == user ? .registered(stored) : .taken
                    return .rollback
                }
                let count = try Prepared(EmbeddedSQL.clientCount, db).first(
                    {
                        $0.text(workspace.text)
                        $0.text(user.text)
                    }, { $0.integer() })
                let alias = try Prepared(EmbeddedErasureSQL.alias, db).first(
                    {
                        $0.text(workspace.text)
                        $0.text(user.text)
                    }, { $0.text() })
                guard count ?? 0 < limits.clientsPerUserMax, alias == nil else { return .rollback }
                try Prepared(EmbeddedSQL.makeWorkspace, db).execute { $0.text(workspace.text) }
                try Prepared(EmbeddedSQL.insertClient, db).execute {
                    $0.text(workspace.text)
                    $0.id(client)
                    $0.text(user.text)
                    $0.integer(now)
                }
                answer = .registered(ClientRow(id: client, user: user))
                return .commit
            }
            return answer
        }
    }

    /// See `Store.clients`.
    package func clients(
        of user: UserID, in workspace: WorkspaceID
    ) async throws(StoreError) -> [RegisteredClient] {
        try await onReader { [limits] db in
            try Prepared(EmbeddedSQL.clientsOfUser, db).all(
                {
                    $0.text(workspace.text)
                    $0.text(user.text)
                    $0.integer(Int64(limits.clientsListedMax))
                },
                {
                    RegisteredClient(
                        id: try $0.id(), settledThrough: $0.integer(), registered: $0.integer(), seen: $0.integer())
                })
        }
    }

    /// See `Store.saw`: one write transaction.
    package func saw(
        _ clients: [SeenClient], in workspace: WorkspaceID
    ) async throws(StoreError) -> Set<ClientID> {
        try await onWriter { db in
            var registered: Set<ClientID> = []
            try db.inTransaction(.immediate) {
                for sighting in clients {
                    let changed = try Prepared(EmbeddedSQL.sawClient, db).execute {
                        $0.text(workspace.text)
                        $0.id(sighting.client)
                        $0.integer(sighting.time)
                        if let app = sighting.app { $0.text(app) } else { $0.null() }
                        for number in [sighting.written, sighting.position] {
                            if let number { $0.integer(number) } else { $0.null() }
                        }
                    }
                    if changed == 1 { registered.insert(sighting.client) }
                }
                return .commit
            }
            return registered
        }
    }
}
