import HTTPTypes
import Hummingbird

/// Lets pages of some web origins call. A browser asks first, by a request of its own, and shows a page only answers
/// that name its origin. Other programs send no `Origin`, and nothing changes for them. The caller is always identified
/// by the token.
struct CrossOrigin: RouterMiddleware {
    /// The origins as browsers write them.
    let origins: Set<String>

    @concurrent func handle(
        _ request: Request, context: APIContext, next: @concurrent (Request, APIContext) async throws -> Response
    ) async throws -> Response {
        guard let origin = request.headers[.origin], origins.contains(origin) else {
            var response = try await next(request, context)
            // Caches on the way must know that the answer depends on the origin.
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

    /// The methods and headers of our calls; a browser may remember them for two hours.
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
