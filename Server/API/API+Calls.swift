import Hummingbird
import TidemarkHub
import TidemarkModel
import TidemarkNode
import TidemarkSequencer
import TidemarkStore
import TidemarkWire

extension API {
    /// `POST /v1/page`.
    func page(_ call: (identity: Identity, body: PageRequest)) async throws -> Response {
        var request = call.body
        request.limit = min(request.limit, node.context.limits.pageRowsMax)
        guard node.context.admission.schema.isReadable(request.collection) else {
            throw APIError.pageForbidden
        }
        let judged = try await requireGrant(request.scope, since: request.since, of: call.identity)
        let page = try await node.page(request, in: call.identity.workspace)
        if page.at.seq > judged.seq {
            _ = try await requireGrant(request.scope, since: request.since, of: call.identity)
        }
        return Response(json: page.answer(to: request))
    }

    /// `POST /v1/history`: judged and read like a page.
    func history(_ call: (identity: Identity, body: HistoryRequest)) async throws -> Response {
        var request = call.body
        request.limit = min(request.limit, node.context.limits.pageRowsMax)
        guard node.context.admission.schema.isReadable(request.key.collection) else {
            throw APIError.pageForbidden
        }
        let judged = try await requireGrant(request.scope, since: request.since, of: call.identity)
        let page = try await node.history(request, in: call.identity.workspace)
        if page.at.seq > judged.seq {
            _ = try await requireGrant(request.scope, since: request.since, of: call.identity)
        }
        return Response(json: page.answer(to: request))
    }

    /// Judges the caller's grant: before anything is read, and again if the read is of a later state, so that
    /// a caller who lost the scope meanwhile does not get it.
    ///
    /// - Returns: the state by which the caller was judged.
    private func requireGrant(
        _ scope: ScopeID, since: SequenceNumber, of identity: Identity
    ) async throws -> Head {
        let snapshot = try await node.store.session(
            for: identity.principal.user, client: nil, in: identity.workspace)
        guard node.context.held(snapshot.grants)[scope]?.since == since else { throw APIError.pageForbidden }
        return snapshot.head
    }

    /// `GET /readyz`: whether clients should be sent to this server.
    func readiness() async throws -> Response {
        guard !node.isDraining else {
            throw APIError.busy(.serviceUnavailable, .draining, "the server is stopping", retryAfter: retryAfterProbe)
        }
        if let fault = node.commits.storeFault {
            throw APIError.notReady(fault.rawValue, "the last commit failed", retryAfter: retryAfterProbe)
        }
        if let fault = await readinessChecks.value(now: node.now, { await node.readingFault() }) {
            throw APIError.notReady(fault.rawValue, "the store does not answer", retryAfter: retryAfterProbe)
        }
        guard !node.isTailStale else {
            throw APIError.notReady(
                "tail_stale", "this server has not read the commits of other servers lately",
                retryAfter: retryAfterProbe)
        }
        guard !node.hasUnreadSchema else {
            throw APIError.notReady(
                "schema_unread", "a schema is in force that this version cannot read: update this server",
                retryAfter: retryAfterProbe)
        }
        return Response(json: Array(#"{"ok":true}"#.utf8))
    }

    private var retryAfterProbe: Int64 { node.context.timing.retry }
}

extension Node {
    /// Asks the store for something small, for at most `probeMax`. Returns the reason why there was no answer.
    func readingFault() async -> StoreError.Fault? {
        await withTaskGroup(of: StoreError.Fault?.self) { group in
            group.addTask { [store] in
                do throws(StoreError) {
                    _ = try await store.batch(holding: 1, in: WorkspaceID("readiness"))
                    return nil
                } catch {
                    return error.fault ?? .unreachable
                }
            }
            group.addTask { [parts] in
                // Cancelled after an answer, or finished without one in time.
                try? await parts.environment.clock.sleep(for: parts.limits.probeMax)
                return .unreachable
            }
            let fault = await group.next() ?? .unreachable
            group.cancelAll()
            return fault
        }
    }
}
