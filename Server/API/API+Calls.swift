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

    /// `POST /v1/history`: judged and read as a page is.
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

    /// Judges who asks: before anything is read for them, and, where the read is of a later state than this, again, so that
    /// who lost the scope meanwhile does not get it.
    ///
    /// - Returns: the state that it was judged by.
    private func requireGrant(
        _ scope: ScopeID, since: SequenceNumber, of identity: Identity
    ) async throws -> Head {
        let snapshot = try await node.store.session(
            for: identity.principal.user, client: nil, in: identity.workspace)
        guard node.context.held(snapshot.grants)[scope]?.since == since else { throw APIError.pageForbidden }
        return snapshot.head
    }

    /// `GET /readyz`: whether this server should be sent clients.
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
                "tail_stale", "commits of other servers were not looked for", retryAfter: retryAfterProbe)
        }
        guard !node.hasUnreadSchema else {
            throw APIError.notReady(
                "schema_unread", "another server put a schema in force that this version does not read",
                retryAfter: retryAfterProbe)
        }
        return Response(json: Array(#"{"ok":true}"#.utf8))
    }

    private var retryAfterProbe: Int64 { node.context.timing.retry }
}

extension Node {
    /// Asks the store for something small, for at most `probeMax`; why there was no answer.
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
                // Cut short by the answer, or over: either way there was none in time.
                try? await parts.environment.clock.sleep(for: parts.limits.probeMax)
                return .unreachable
            }
            let fault = await group.next() ?? .unreachable
            group.cancelAll()
            return fault
        }
    }
}
