import Hummingbird
import Logging
import NIOCore
import TidemarkNode
import TidemarkStore
import TidemarkTelemetry
import TidemarkWire

/// Turns every error of a route, or of the router, into the common form of refusals.
struct ErrorAnswers: RouterMiddleware {
    let retryAfter: Int64
    let telemetry: Telemetry
    let peer: @Sendable (any Channel) -> SocketAddress?

    @concurrent func handle(
        _ request: Request, context: APIContext, next: @concurrent (Request, APIContext) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch {
            let refusal = try refusal(of: error, context)
            telemetry.metrics.refusals.count(refusal.code)
            if refusal.status == .tooManyRequests {
                telemetry.security.note(
                    .rate, refusal.code, peer: peer(context.channel)?.ipAddress, context.trace.logged)
            }
            return refusal.response
        }
    }

    private func refusal(of error: any Error, _ context: APIContext) throws -> APIError {
        switch error {
        case let error as APIError: return error
        case let error as StoreError where error == .erasedWorkspace:
            return APIError(.gone, "workspace_erased", "the workspace is erased: delete what you hold of it")
        case let error as StoreError:
            context.logger.warning("A call failed in the store", metadata: ["error": "\(error)"])
            let message = "the store is not available"
            return APIError.busy(.serviceUnavailable, .unavailable, message, retryAfter: retryAfter)
        case is NIOTooManyBytesError: return APIError.tooLarge
        case let error as any HTTPResponseError:
            switch error.status {
            case .notFound: return APIError(.notFound, "not_found", "no such address")
            case .contentTooLarge: return APIError.tooLarge
            default: return APIError(error.status, "invalid", error.status.reasonPhrase)
            }
        default: throw error
        }
    }
}
