import Logging
import TidemarkHub
package import TidemarkModel
import TidemarkSequencer
package import TidemarkStore

/// Client ids: registered at a bounded rate, listed and removed by their user. The oldest unused one makes room for a
/// new one.
extension Node {
    /// Binds a client id to a user. If the user has too many, their oldest unused one is removed.
    package func register(
        _ client: ClientID, for user: UserID, in workspace: WorkspaceID
    ) async throws(StoreError) -> Registration {
        if let wait = takeRegistration(of: user, in: workspace) { return .tooFast(retryAfter: wait) }
        let answer = try await store.register(client, for: user, in: workspace, now: now())
        guard answer == .tooMany, let unused = try await unusedClient(of: user, in: workspace) else { return answer }
        _ = try await remove(unused, of: user, in: workspace)
        return try await store.register(client, for: user, in: workspace, now: now())
    }

    /// Takes one of the user's registrations and removals, or returns the milliseconds until that is possible.
    package func takeRegistration(of user: UserID, in workspace: WorkspaceID) -> Int64? {
        registrationRates.take(1, for: .init(workspace: workspace, user: user), now: now())
    }

    /// The same for a revocation, which costs as much as ten of them because it is sent to every node at once.
    package func takeRevocation(of user: UserID, in workspace: WorkspaceID) -> Int64? {
        registrationRates.take(10, for: .init(workspace: workspace, user: user), now: now())
    }

    /// Ends a registration, and the client's connections on every node. The client sends its unsent writes again under
    /// another id (PROTOCOL.md, 4410).
    ///
    /// The removal is a batch of the order that holds nothing else. So it reaches every node, and no node continues to
    /// plan from remembered state of the client.
    ///
    /// - Returns: false when it is not a client of the user.
    package func remove(
        _ client: ClientID, of user: UserID, in workspace: WorkspaceID
    ) async throws(StoreError) -> Bool {
        guard let batch = try await commitRemoval(of: [client], in: workspace, where: { $0.row.user == user }) else {
            return false
        }
        await tell(batch, in: workspace)
        return true
    }

    /// Ends the registrations of clients that have not connected for a long time, in one batch. A client whose device
    /// may hold a write that took effect stays. Under another id the write would count twice, or bring back deleted
    /// data (COMPACTION.md).
    ///
    /// - Returns: the number of removed clients.
    func remove(unused clients: [ClientID], in workspace: WorkspaceID) async throws(StoreError) -> Int {
        let batch = try await commitRemoval(
            of: clients, in: workspace, where: { $0.row.settledThrough == $0.row.ackedThrough })
        guard let batch else { return 0 }
        await tell(batch, in: workspace)
        return batch.removals.count
    }

    private func tell(_ batch: CommittedBatch, in workspace: WorkspaceID) async {
        if let feed = feeds[workspace], feed.committed(batch) {
            await feed.readOn(from: reader)
        }
        if parts.isStoreShared { parts.hints.announce(workspace, batch.head.seq) }
    }

    /// Commits and returns the batch that removes those of the clients that may be removed; `nil` when none may.
    private func commitRemoval(
        of clients: [ClientID], in workspace: WorkspaceID, where mayGo: (StoredClient) -> Bool
    ) async throws(StoreError) -> CommittedBatch? {
        var reads = ReadSet()
        reads.clients = clients
        return try await store.commit(drawnFrom: reads, in: workspace) { state in
            let going = clients.filter { state.clients[$0].map(mayGo) ?? false }
            guard !going.isEmpty else { return nil }
            let base = state.head
            let head = Head(
                seq: base.seq + 1, nonce: parts.environment.nonce(), time: max(now(), base.time), epoch: base.epoch)
            return CommittedBatch(low: head.seq, head: head, removals: going)
        }
    }

    /// Returns the user's client that has been unused for longest; `nil` when all were seen lately.
    private func unusedClient(
        of user: UserID, in workspace: WorkspaceID
    ) async throws(StoreError) -> ClientID? {
        let latest = now() - limits.clientUnusedMin.milliseconds
        return try await store.clients(of: user, in: workspace).first { client in
            client.seen <= latest && !connectionCounts.isConnected(.init(workspace: workspace, client: client.id))
        }?.id
    }

    /// Records in the store which clients were seen. Closes connections of clients that are no longer registered.
    func writeSightings() async {
        let time = now()
        for client in connectionCounts.clients { sightings.note(client, now: time) }
        for (workspace, clients) in sightings.take(now: time) {
            var rest = clients[...]
            while !rest.isEmpty {
                let some = Array(rest.prefix(limits.sightingsAtOnce))
                rest = rest.dropFirst(some.count)
                do throws(StoreError) {
                    let registered = try await store.saw(some, in: workspace)
                    for client in some.map(\.client) where !registered.contains(client) {
                        closeRemoved(client, in: workspace)
                    }
                } catch {
                    logger.warning(
                        "Could not record which clients were seen",
                        metadata: ["workspace": "\(workspace)", "error": "\(error)"])
                }
            }
        }
    }

    private func closeRemoved(_ client: ClientID, in workspace: WorkspaceID) {
        guard let place = connectionCounts.place(of: .init(workspace: workspace, client: client)) else { return }
        place.inbox.post(.removed(place.session))
    }
}

extension Duration {
    /// The whole milliseconds.
    var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1_000 + attoseconds / 1_000_000_000_000_000
    }
}
