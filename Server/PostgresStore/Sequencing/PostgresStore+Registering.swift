package import TidemarkModel
import TidemarkPostgres
package import TidemarkStore

extension PostgresStore {
    /// See `Store.register`: needs no lock of the workspace for known clients.
    package func register(
        _ client: ClientID, for user: UserID, in workspace: WorkspaceID, now: Milliseconds
    ) async throws(StoreError) -> Registration {
        let lookUp = Statement(ReadingSQL.client, workspace) { $0.add(client) }
        // Known clients, which are nearly all of them, need no lock.
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

    /// See `Store.clients`.
    package func clients(
        of user: UserID, in workspace: WorkspaceID
    ) async throws(StoreError) -> [RegisteredClient] {
        let list = Statement(ReadingSQL.clientsOfUser, workspace) {
            $0.add(text: user.text)
            $0.add(Int64(options.limits.clientsListedMax))
        }
        return try await read([list])[0].all {
            RegisteredClient(
                id: try $0.id(), settledThrough: try $0.integer(), registered: try $0.integer(),
                seen: try $0.integer())
        }
    }

    /// See `Store.saw`: under the workspace's lock, so that it never deadlocks with a step.
    package func saw(
        _ clients: [SeenClient], in workspace: WorkspaceID
    ) async throws(StoreError) -> Set<ClientID> {
        let note = Statement(ReadingSQL.sawClients, workspace) {
            $0.add(clients.map(\.client))
            $0.add(clients.map(\.time))
            $0.addTextArray(clients.map(\.app))
            $0.addInt64Array(clients.map(\.written))
            $0.addInt64Array(clients.map(\.position))
        }
        return Set(try await writeLocked(workspace, [note])[0].all { try $0.id() })
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

    /// See `Store.probe`: one commit, and one insert that needs space in a table and is undone.
    package func probe() async throws(StoreError) {
        let room = Self.probeBytes
        let statements =
            transactions.beginWrite + [
                FenceSQL.check(generation), .simple("UPDATE sync_probe SET hash = hash"), Transactions.commit,
                .simple("BEGIN"),
                .simple(
                    "INSERT INTO sync_blob_part (workspace, digest, start, bytes)"
                        + " VALUES ('', '', 0, decode(repeat('00', \(room)), 'hex'))"),
                .simple("ROLLBACK"),
            ]
        _ = try await on(sequencing) { try await $0.run(statements) }
    }

    private static let probeBytes = 65_536

    /// See `Store.unfollow`.
    package func unfollow(_ workspace: WorkspaceID, node: UInt64) async throws(StoreError) {
        let drop = Statement(ReadingSQL.dropListener, workspace) { $0.add(Int64(bitPattern: node)) }
        _ = try await on(reading) { try await $0.run([drop]) }
    }
}
