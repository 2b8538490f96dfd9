import Hummingbird
import TidemarkModel
import TidemarkSequencer
import TidemarkSession
import TidemarkWire

extension API {
    /// `POST /v1/push`: 200 once everything in it is settled, be it accepted or refused.
    func push(_ request: Request, _ context: APIContext) async throws -> Response {
        let identity = try authenticate(request, context)
        guard !node.isDraining else {
            throw APIError.busy(.serviceUnavailable, .draining, "the server is stopping", retryAfter: retry)
        }
        let bytes = try await body(of: request)
        let call: PushCall
        do throws(WireError) { call = try PushCall.decode(bytes) } catch { throw APIError(error) }
        let limits = node.context.limits
        guard call.push.entries.count <= limits.pushTransactionsMax else {
            throw APIError(.badRequest, "invalid", "push: more than \(limits.pushTransactionsMax) transactions")
        }
        guard !node.context.outgrowsOutcomes(call.push) else {
            let message = "push: \(limits.outcomesKeptMax) outcomes are not acknowledged"
            throw APIError.busy(.serviceUnavailable, .overloaded, message, retryAfter: retry)
        }
        let key = Census.Client(workspace: identity.workspace, client: call.client)
        if let wait = rates.take(call.push.entries.count, for: key, now: node.now()) {
            let message = "push: \(limits.transactionsPerSecond) transactions a second"
            throw APIError.busy(.tooManyRequests, .rateLimited, message, retryAfter: wait)
        }
        let pieces = node.context.submissions(
            of: call.push, client: call.client, principal: identity.principal, connection: call.connection,
            bytes: bytes.count, app: call.app)
        return Response(json: try answer(to: await node.settle(pieces, in: identity.workspace)).encode())
    }

    private var retry: Int64 { node.context.timing.retry }

    private func answer(to outcome: PushOutcome) throws(APIError) -> PushAnswer {
        switch outcome {
        case .settled(let through, let results):
            return PushAnswer(
                settledThrough: through,
                outcomes: results.map {
                    .init(
                        number: $0.number, transaction: $0.transaction, seq: $0.seq, time: $0.time,
                        rejection: $0.rejection)
                })
        case .gap(let through):
            var error = APIError(.conflict, ErrorCode.gap.rawValue, "go on from \(through + 1)")
            error.settledThrough = through
            throw error
        case .stale: throw APIError(.conflict, "stale_conn", "a later connection of this client was seen")
        case .forked:
            throw APIError(.conflict, "client_forked", "a transaction number came back with other content")
        case .unknownClient:
            throw APIError(.conflict, "client_unknown", "this client id is not registered for the user")
        case .unavailable:
            throw .busy(.serviceUnavailable, .unavailable, "the store is not available", retryAfter: retry)
        case .overloaded:
            throw .busy(.serviceUnavailable, .overloaded, "the workspace's queue is full", retryAfter: retry)
        }
    }
}
