import Logging
import TidemarkHub
package import TidemarkModel
package import TidemarkStore
import TidemarkTelemetry
package import TidemarkWire

/// The reads that sessions ask for. Each answers by one event.
extension Node {
    /// A feed is retired after minutes without use: it hardly ever happens twice that a caller meets a feed that is
    /// being retired.
    private static let feedTries = 3

    /// Finds out which user a token is for. A signature costs more than a turn of an event loop should, and keys may
    /// have to be fetched, so this is done beside the loops (Server/Identity/ISSUERS.md).
    ///
    /// - Parameter peer: the peer's address, for the log.
    func verify(_ token: String, of peer: String?, for id: SessionID, replyTo inbox: HubInbox) {
        let isStarted = background.start { [self] in
            inbox.post(.verified(id, await verdict(on: token, of: peer)))
        }
        if !isStarted { inbox.post(.verified(id, .unavailable)) }
    }

    /// Loads everything that a welcome needs: follows the workspace, registers the client if it is new, reads a
    /// snapshot.
    func load(_ request: LoadRequest, for id: SessionID, replyTo inbox: HubInbox) {
        let isStarted = background.start { [self] in
            do throws(StoreError) {
                try await follow(request.workspace)
                let answer = try await loadGate.pass(for: request.workspace) {
                    () async throws(StoreError) -> LoadAnswer in
                    try await self.answer(to: request)
                }
                inbox.post(.loaded(id, answer))
            } catch .erasedWorkspace {
                inbox.post(.erased(id))
            } catch {
                report(error, "Could not read what a connection starts from", request.workspace)
                inbox.post(.loadFailed(id))
            }
        }
        if !isStarted { inbox.post(.loadFailed(id)) }
    }

    /// Makes sure that this process gets every batch of the workspace.
    ///
    /// If no other process commits, nobody needs the batches' bodies in the store. The interest is then ended at once,
    /// which spares the store from keeping them.
    package func follow(_ workspace: WorkspaceID) async throws(StoreError) {
        for _ in 0..<Self.feedTries {
            let isFollowed = try await feeds.open(workspace).follow(now: now()) { () async throws(StoreError) in
                let head = try await store.follow(workspace, node: parts.id, now: now())
                if !parts.isStoreShared { try await store.unfollow(workspace, node: parts.id) }
                try await epochs.found(head, in: workspace)
                return head
            }
            if isFollowed { return }
        }
        throw StoreError(.unavailable, "the workspace was put to rest again and again")
    }

    private func answer(to request: LoadRequest) async throws(StoreError) -> LoadAnswer {
        let head = feeds[request.workspace]?.head
        var registration: Registration?
        if request.registers {
            registration = try await register(request.client, for: request.user, in: request.workspace)
        }
        var snapshot = try await session(
            for: request.user, client: request.client, at: request.place, in: request.workspace)
        let common = try await commonEnd(of: request, in: snapshot)
        snapshot.durable = try await durability.through(
            snapshot.head, after: snapshot.horizon, in: request.workspace, now: now())
        let feed = feeds[request.workspace]
        if snapshot.lacks(head) {
            // The delivered order is not stored. The poll would find out; this client need not see it meanwhile.
            await feed?.readOn(from: reader)
            throw .wentBack
        }
        if let settled = snapshot.client?.settledThrough, request.ackedThrough > settled {
            // The client states a higher number than is stored. Any client can, so that this only makes this node look.
            await feed?.readOn(from: reader)
        }
        feed?.saw(snapshot.head.seq)
        return LoadAnswer(snapshot: snapshot, registration: registration, common: common)
    }

    /// Returns the batch from which a client continues whose cursor lies in lost history; `nil` for all others. Each
    /// step is one read. The result is looked up again with the first window that begins there.
    private func commonEnd(
        of request: LoadRequest, in snapshot: SessionSnapshot
    ) async throws(StoreError) -> Head? {
        guard var search = request.search(in: snapshot, context) else { return nil }
        while let seq = search.lookup { search.found(try await store.batch(holding: seq, in: request.workspace)) }
        return search.end
    }

    func readWindow(_ request: WindowRequest, for id: SessionID, replyTo inbox: HubInbox) {
        let isStarted = background.start { [self] in
            do throws(StoreError) {
                let window = try await readGate.pass(for: request.workspace) { () async throws(StoreError) -> Window in
                    try await store.window(
                        scopes: request.scopes, after: request.after, span: request.span, in: request.workspace)
                }
                feeds[request.workspace]?.saw(window.head.seq)
                metrics.catchups.count()
                metrics.catchupRows.count(window.records.count)
                inbox.post(.windowRead(id, window))
            } catch {
                report(error, "Could not read a catch-up window", request.workspace)
                inbox.post(.loadFailed(id))
            }
        }
        if !isStarted { inbox.post(.loadFailed(id)) }
    }

    func readPage(_ request: PageRequest, in workspace: WorkspaceID, for id: SessionID, replyTo inbox: HubInbox) {
        let isStarted = background.start { [self] in
            do throws(StoreError) {
                let page = try await page(request, in: workspace)
                feeds[workspace]?.saw(page.at.seq)
                inbox.post(.pageRead(id, request, page))
            } catch {
                report(error, "Could not read a page", workspace)
                inbox.post(.pageRead(id, request, nil))
            }
        }
        if !isStarted { inbox.post(.pageRead(id, request, nil)) }
    }

    func readHistory(
        _ request: HistoryRequest, in workspace: WorkspaceID, for id: SessionID, replyTo inbox: HubInbox
    ) {
        let isStarted = background.start { [self] in
            do throws(StoreError) {
                let page = try await history(request, in: workspace)
                feeds[workspace]?.saw(page.at.seq)
                inbox.post(.historyRead(id, request, page))
            } catch {
                report(error, "Could not read from the ledger", workspace)
                inbox.post(.historyRead(id, request, nil))
            }
        }
        if !isStarted { inbox.post(.historyRead(id, request, nil)) }
    }

    /// Reads the pages of a comparison. Each page waits for its turn anew, so that a comparison keeps nobody else from
    /// reading.
    func read(
        _ comparison: Comparison, in workspace: WorkspaceID, for id: SessionID, replyTo inbox: HubInbox
    ) {
        let isStarted = background.start { [self] in
            var comparison = comparison
            let feed = feeds[workspace]
            let head = feed?.head
            do throws(StoreError) {
                while let request = comparison.next {
                    guard comparison.read(try await page(request, in: workspace), after: head) else {
                        await feed?.readOn(from: reader)
                        throw .wentBack
                    }
                }
                feeds[workspace]?.saw(comparison.at)
                metrics.comparisons.count()
                inbox.post(.compared(id, comparison, isRead: true))
            } catch {
                report(error, "Could not read the records of a comparison", workspace)
                inbox.post(.compared(id, comparison, isRead: false))
            }
        }
        if !isStarted { inbox.post(.compared(id, comparison, isRead: false)) }
    }

    /// Reads from the conflict ledger when the gate lets the caller through.
    package func history(_ request: HistoryRequest, in workspace: WorkspaceID) async throws(StoreError) -> LedgerPage {
        try await readGate.pass(for: workspace) { () async throws(StoreError) -> LedgerPage in
            try await store.history(
                of: request.key, scope: request.scope, before: request.before ?? .max, limit: request.limit,
                in: workspace)
        }
    }

    /// Reads a page when the gate lets the caller through.
    package func page(_ request: PageRequest, in workspace: WorkspaceID) async throws(StoreError) -> Page {
        try await readGate.pass(for: workspace) { () async throws(StoreError) -> Page in
            if let ids = request.ids {
                return try await store.page(
                    scope: request.scope, collection: request.collection, ids: ids, limit: request.limit, in: workspace)
            }
            return try await store.page(
                scope: request.scope, collection: request.collection, before: request.before ?? .max,
                limit: request.limit, in: workspace)
        }
    }

    private func report(_ error: StoreError, _ message: Logger.Message, _ workspace: WorkspaceID) {
        logger.warning(message, metadata: ["workspace": "\(workspace)", "error": "\(error)"])
    }
}
