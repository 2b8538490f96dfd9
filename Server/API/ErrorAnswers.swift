import Hummingbird
import Logging
import NIOCore
import TidemarkStore
import TidemarkWire

/// Turns every error of a route, or of the router, into the one form of our refusals.
struct ErrorAnswers: RouterMiddleware {
    let retryAfter: Int64

    @concurrent func handle(
        _ request: Request, context: APIContext, next: @concurrent (Request, APIContext) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let error as APIError {
            return error.response
        } catch let error as StoreError where error == .erasedWorkspace {
            return APIError(.gone, "workspace_erased", "the workspace is erased: delete what you hold of it").response
        } catch let error as StoreError {
            context.logger.warning("A call failed in the store", metadata: ["error": "\(error)"])
            let message = "the store is not available"
            return APIError.busy(.serviceUnavailable, .unavailable, message, retryAfter: retryAfter).response
        } catch is NIOTooManyBytesError {
            return APIError.tooLarge.response
        } catch let error as any HTTPResponseError {
            switch error.status {
            case .notFound: return APIError(.notFound, "not_found", "no such address").response
            case .contentTooLarge: return APIError.tooLarge.response
            default: return APIError(error.status, "invalid", error.status.reasonPhrase).response
            }
        }
    }
}
