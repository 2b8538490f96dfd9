package import TidemarkModel
import TidemarkPostgres
package import TidemarkStore

extension PostgresStore {
    /// See `Store.register`: known clients are answered without the workspace's lock.
    package func register(
        _ client: ClientID, for user: UserID, in workspace: WorkspaceID, now: Milliseconds
    ) async throws(StoreError) -> Registration {
        let lookUp = Statement(ReadingSQL.client, workspace) { $0.add(client) }
        // Known clients, which is nearly all of them, need no lock.
        if let known = try await read([lookUp])[0].first({ try $0.storedClient() }) {
            return Self.registration(known.row, user)
        }
        let insert = Statement(ReadingSQL.insertClient, workspace) {
            $0.add(client)
            $0.add(text: user.text)
            $0.add(now)
            $0.add(Int64(options.limits.clientsPerUserMax))
        }
        let stored = try await writeLocked(workspace, [insert, lookUp])[1].first { try $0.storedClient() }
        return stored.map { Self.registration($0.row, user) } ?? .tooMany
    }

    private static func registration(_ row: ClientRow, _ user: UserID) -> Registration {
        row.user == user ? .registered(row) : .taken
    }

    /// See `Store.follow`; also forgets the workspace's lapsed listeners.
    package func follow(
        _ workspace: WorkspaceID, node: UInt64, now: Milliseconds
    ) async throws(StoreError) -> Head {
        let (lapsed, overflows) = now.subtractingReportingOverflow(options.limits.followLifetime)
        return try await writeLocked(
            workspace,
            [
                Statement(ReadingSQL.head, workspace),
                Statement(ReadingSQL.dropLapsedListeners, workspace) { $0.add(overflows ? .min : lapsed) },
                Statement(ReadingSQL.renewListener, workspace) {
                    $0.add(Int64(bitPattern: node))
                    $0.add(now)
                },
            ]
        )[0].first { try $0.head() } ?? .start
    }

    /// See `Store.unfollow`.
    package func unfollow(_ workspace: WorkspaceID, node: UInt64) async throws(StoreError) {
        let drop = Statement(ReadingSQL.dropListener, workspace) { $0.add(Int64(bitPattern: node)) }
        _ = try await on(reading) { try await $0.run([drop]) }
    }
}
