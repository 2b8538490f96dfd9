import HTTPTypes
import Hummingbird

/// Lets pages of some web origins call: a browser asks before, by a request of its own, and shows a page only answers that name its
/// origin. Other programs send no `Origin` and are not concerned; who calls is told by the token alone.
struct CrossOrigin: RouterMiddleware {
    /// As browsers write them.
    let origins: Set<String>

    @concurrent func handle(
        _ request: Request, context: APIContext, next: @concurrent (Request, APIContext) async throws -> Response
    ) async throws -> Response {
        guard let origin = request.headers[.origin], origins.contains(origin) else {
            var response = try await next(request, context)
            // What is answered depends on it, as far as a cache on the way is concerned.
            if !origins.isEmpty { response.headers[fields: .vary].append(HTTPField(name: .vary, value: "Origin")) }
            return response
        }
        var response =
            request.method == .options && request.headers[.accessControlRequestMethod] != nil
            ? Self.permission : try await next(request, context)
        response.headers[.accessControlAllowOrigin] = origin
        response.headers[.accessControlExposeHeaders] = "ETag, Retry-After, Accept-Ranges, Content-Range"
        response.headers[fields: .vary].append(HTTPField(name: .vary, value: "Origin"))
        return response
    }

    /// What calls consist of; a browser may remember it for two hours.
    private static var permission: Response {
        Response(
            status: .noContent,
            headers: [
                .accessControlAllowMethods: "GET, HEAD, POST, PUT, DELETE",
                .accessControlAllowHeaders: "Authorization, Content-Type, If-None-Match, If-Range, Range, Traceparent",
                .accessControlMaxAge: "7200",
            ])
    }
}
