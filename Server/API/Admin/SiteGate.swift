import HTTPTypes
import Hummingbird
import TidemarkEdge

/// Refuses calls under another name than the server's, and calls from pages of other sites, on the listener for
/// operators. For clients, the edge does the same before any route.
struct SiteGate: RouterMiddleware {
    let sites: SiteCheck
    /// Receives each refusal.
    let observe: @Sendable (SiteCheck.Fault, APIContext) -> Void

    @concurrent func handle(
        _ request: Request, context: APIContext, next: @concurrent (Request, APIContext) async throws -> Response
    ) async throws -> Response {
        let hosts = request.head.authority.map { [$0] } ?? []
        if let fault = sites.fault(hosts: hosts, origins: request.headers[values: .origin]) {
            observe(fault, context)
            throw APIError(.init(code: fault.status), fault.code, fault.message)
        }
        return try await next(request, context)
    }
}
