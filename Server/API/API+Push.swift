import Hummingbird
import TidemarkHub
import TidemarkModel
import TidemarkNode
import TidemarkSequencer
import TidemarkStore
import TidemarkTelemetry
import TidemarkWire

/// A client that pushes over HTTP; each has a rate of its own.
struct PushCaller: Hashable, Sendable {
    var user: Caller
    var client: ClientID
}

extension API {
    /// `POST /v1/push`: 200 once every transaction in it is settled, accepted or refused.
    func push(_ request: Request, _ context: APIContext, of identity: Identity) async throws -> Response {
        guard !node.isDraining else {
            throw APIError.busy(.serviceUnavailable, .draining, "the server is stopping", retryAfter: retry)
        }
        let bytes = try await body(of: request)
        let limits = node.context.limits
        let call: PushCall
        do throws(WireError) {
            call = try PushCall.decode(bytes, limits: limits.model)
        } catch {
            throw APIError(error)
        }
        try requireUnrevoked(identity, .named(call.client))
        if let minimum = node.context.minimum(for: call.app, of: identity.principal) {
            throw APIError.appTooOld(minimum.description)
        }
        guard call.push.entries.count <= limits.pushTransactionsMax else {
            throw APIError(.badRequest, "invalid", "push: more than \(limits.pushTransactionsMax) transactions")
        }
        guard !node.context.outgrowsOutcomes(call.push) else {
            let message = "push: \(limits.outcomesKeptMax) outcomes are not acknowledged"
            throw APIError.busy(.serviceUnavailable, .overloaded, message, retryAfter: retry)
        }
        let caller = PushCaller(
            user: .init(workspace: identity.workspace, user: identity.principal.user), client: call.client)
        if !rates.knows(caller) { try await requireClient(of: caller) }
        if let wait = rates.take(call.push.entries.count, for: caller, now: node.now()) {
            let message = "push: \(limits.transactionsPerSecond) transactions a second"
            throw APIError.busy(.tooManyRequests, .rateLimited, message, retryAfter: wait)
        }
        let pieces = node.context.submissions(
            of: call.push, client: call.client, principal: identity.principal, connection: call.connection,
            bytes: bytes.count, app: call.app)
        let begun = ContinuousClock.now
        let outcome = await node.settle(pieces, in: identity.workspace)
        node.metrics.pushAnswer.record(begun.duration(to: .now))
        node.pushLine(of: call.client, context.trace)?(outcome, begun.duration(to: .now))
        if case .settled = outcome {
            node.sightings.note(
                .init(workspace: identity.workspace, client: call.client),
                app: call.app.flatMap { $0.isPlainName ? $0 : nil }, now: node.now())
        }
        return Response(json: try answer(to: outcome).encode())
    }

    /// Checks the client's owner before any of a rate is used, because callers may make up any number of ids.
    private func requireClient(of caller: PushCaller) async throws {
        if let wait = lookups.take(1, for: caller.user, now: node.now()) {
            let message = "push: too many clients in a short time"
            throw APIError.busy(.tooManyRequests, .rateLimited, message, retryAfter: wait)
        }
        let (user, workspace) = (caller.user.user, caller.user.workspace)
        let snapshot = try await node.loadGate.pass(for: workspace) { () async throws(StoreError) -> SessionSnapshot in
            try await node.store.session(for: user, client: caller.client, in: workspace)
        }
        guard snapshot.client?.user == user else { throw APIError.clientUnknown }
    }

    private var retry: Int64 { node.context.timing.retry }

    private func answer(to outcome: PushOutcome) throws(APIError) -> PushAnswer {
        switch outcome {
        case .settled(let through, let results):
            return PushAnswer(settledThrough: through, outcomes: results)
        case .gap(let through):
            var error = APIError(.conflict, ErrorCode.gap.rawValue, "go on from \(through + 1)")
            error.settledThrough = through
            throw error
        case .stale: throw APIError(.conflict, "stale_conn", "a later connection of this client was seen")
        case .forked:
            throw APIError(.conflict, "client_forked", "a transaction number came back with other content")
        case .unknownClient:
            throw .clientUnknown
        case .unavailable:
            throw .busy(.serviceUnavailable, .unavailable, "the store is not available", retryAfter: retry)
        case .overloaded:
            throw .busy(
                .serviceUnavailable, .overloaded,
                "the workspace's queue is full, or too many outcomes are not acknowledged",
                retryAfter: retry)
        }
    }
}
