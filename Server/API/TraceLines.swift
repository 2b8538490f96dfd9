import HTTPTypes
import Hummingbird
import Logging
import TidemarkNode
import TidemarkWire

/// Puts the trace that a call is part of, as its `traceparent` says, on the lines of the log that it leaves. One that is none, or
/// comes twice, is ignored.
struct TraceLines: RouterMiddleware {
    private static let field = HTTPField.Name("traceparent")

    @concurrent func handle(
        _ request: Request, context: APIContext, next: @concurrent (Request, APIContext) async throws -> Response
    ) async throws -> Response {
        let values = Self.field.map { request.headers[values: $0] } ?? []
        guard values.count == 1, let trace = values.first.flatMap(TraceParent.init) else {
            return try await next(request, context)
        }
        var context = context
        context.trace = trace
        context.logger[metadataKey: TraceParent.logKey] = "\(trace.traceID)"
        return try await next(request, context)
    }
}
