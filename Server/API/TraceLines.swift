import HTTPTypes
import Hummingbird
import Logging
import TidemarkNode
import TidemarkWire

/// Adds the trace of a call, from its `traceparent`, to the log lines that the call leaves. An invalid one, or one that
/// appears twice, is ignored.
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
