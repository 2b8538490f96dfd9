import Logging
import TidemarkHub
package import TidemarkModel
import TidemarkSequencer
package import TidemarkStore

/// Client ids: registered at a rate, listed and removed by their user; the one that would be missed least makes room.
extension Node {
    /// Binds a client id to a user. Where the user has too many, the oldest unused one goes.
    package func register(
        _ client: ClientID, for user: UserID, in workspace: WorkspaceID
    ) async throws(StoreError) -> Registration {
        if let wait = takeRegistration(of: user, in: workspace) { return .tooFast(retryAfter: wait) }
        let answer = try await store.register(client, for: user, in: workspace, now: now())
        guard answer == .tooMany, let unused = try await unusedClient(of: user, in: workspace) else { return answer }
        _ = try await remove(unused, of: user, in: workspace)
        return try await store.register(client, for: user, in: workspace, now: now())
    }

    /// Takes one of the user's registrations and removals, or tells after how many milliseconds that would be possible.
    package func takeRegistration(of user: UserID, in workspace: WorkspaceID) -> Int64? {
        registrationRates.take(1, for: .init(workspace: workspace, user: user), now: now())
    }

    /// The same for a revocation, of which every node learns at once: as much as ten of them.
    package func takeRevocation(of user: UserID, in workspace: WorkspaceID) -> Int64? {
        registrationRates.take(10, for: .init(workspace: workspace, user: user), now: now())
    }

    /// Ends a registration, and the client's connections on every node. What the client has not sent comes again under
    /// another id (PROTOCOL.md, 4410).
    ///
    /// It is a batch of the order, which holds nothing else: so every node learns of it, and none goes on planning from
    /// what it remembers of the client.
    ///
    /// - Returns: false when it is no client of the user.
    package func remove(
        _ client: ClientID, of user: UserID, in workspace: WorkspaceID
    ) async throws(StoreError) -> Bool {
        guard let batch = try await commitRemoval(of: [client], in: workspace, where: { $0.row.user == user }) else {
            return false
        }
        await tell(batch, in: workspace)
        return true
    }

    /// Ends the registrations of clients that were not here for long, in one batch. One whose device may hold a write that
    /// took effect stays: under another id it would count twice, or bring back what is deleted (COMPACTION.md).
    ///
    /// - Returns: how many were removed.
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

    /// The batch that removes those of the clients that may be; `nil` when none may.
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

    /// The user's client that would be missed least; `nil` when all were here lately.
    private func unusedClient(
        of user: UserID, in workspace: WorkspaceID
    ) async throws(StoreError) -> ClientID? {
        let latest = now() - limits.clientUnusedMin.milliseconds
        return try await store.clients(of: user, in: workspace).first { client in
            client.seen <= latest && !connectionCounts.isConnected(.init(workspace: workspace, client: client.id))
        }?.id
    }

    /// Writes down which clients were here. Who is not registered any more, and is connected all the same, is closed.
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
                        "Could not note which clients were here",
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
    /// Whole milliseconds.
    var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1_000 + attoseconds / 1_000_000_000_000_000
    }
}
