import Logging
import TidemarkModel
import TidemarkSequencer
import TidemarkStore

/// Client ids: registered at a rate, listed and removed by their user; the one that would be missed least makes room.
extension Node {
    /// Binds a client id to a user. Where the user has too many, the oldest unused one goes.
    func register(
        _ client: ClientID, for user: UserID, in workspace: WorkspaceID
    ) async throws(StoreError) -> Registration {
        if let wait = takeRegistration(of: user, in: workspace) { return .tooFast(retryAfter: wait) }
        let answer = try await store.register(client, for: user, in: workspace, now: now())
        guard answer == .tooMany, let unused = try await unusedClient(of: user, in: workspace) else { return answer }
        _ = try await remove(unused, of: user, in: workspace)
        return try await store.register(client, for: user, in: workspace, now: now())
    }

    /// Takes one of the user's registrations and removals, or tells after how many milliseconds that would be possible.
    func takeRegistration(of user: UserID, in workspace: WorkspaceID) -> Int64? {
        registrationRates.take(1, for: .init(workspace: workspace, user: user), now: now())
    }

    /// Ends a registration, and the client's connections on every node. What the client has not sent comes again under
    /// another id (PROTOCOL.md, 4410).
    ///
    /// It is a batch of the order, which holds nothing else: so every node learns of it, and none goes on planning from
    /// what it remembers of the client.
    ///
    /// - Returns: false when it is no client of the user.
    func remove(
        _ client: ClientID, of user: UserID, in workspace: WorkspaceID
    ) async throws(StoreError) -> Bool {
        var reads = ReadSet()
        reads.clients = [.init(client: client, first: 1, last: 1)]
        let environment = parts.environment
        let batch = try await store.sequence(workspace, reading: reads) { found in
            guard found.clients[client]?.user == user else { return nil }
            let seq = found.head.seq + 1
            let head = Head(
                seq: seq, nonce: environment.nonce(), time: max(environment.now(), found.head.time),
                epoch: found.head.epoch)
            return CommittedBatch(low: seq, head: head, removals: [client])
        }
        guard let batch else { return false }
        if let feed = feeds[workspace], feed.committed(batch) {
            await feed.readOn(from: TailReader(parts, commits))
        }
        if parts.isStoreShared { parts.hints.announce(workspace, batch.head.seq) }
        return true
    }

    /// The user's client that would be missed least; `nil` when all were here lately.
    private func unusedClient(
        of user: UserID, in workspace: WorkspaceID
    ) async throws(StoreError) -> ClientID? {
        let latest = now() - limits.clientUnusedMin.milliseconds
        return try await store.clients(of: user, in: workspace).first { client in
            client.seen <= latest && !census.isConnected(.init(workspace: workspace, client: client.id))
        }?.id
    }

    /// Writes down which clients were here. Who is not registered any more, and is connected all the same, is closed.
    func writeSightings() async {
        let time = now()
        for client in census.clients { sightings.note(client, now: time) }
        for (workspace, clients) in sightings.take(now: time) {
            var rest = clients[...]
            while !rest.isEmpty {
                let some = Array(rest.prefix(limits.sightingsAtOnce))
                rest = rest.dropFirst(some.count)
                do throws(StoreError) {
                    let registered = try await store.saw(some, in: workspace, now: time)
                    for client in some where !registered.contains(client) { closeRemoved(client, in: workspace) }
                } catch {
                    logger.warning(
                        "Could not note which clients were here",
                        metadata: ["workspace": "\(workspace)", "error": "\(error)"])
                }
            }
        }
    }

    private func closeRemoved(_ client: ClientID, in workspace: WorkspaceID) {
        guard let place = census.place(of: .init(workspace: workspace, client: client)) else { return }
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
