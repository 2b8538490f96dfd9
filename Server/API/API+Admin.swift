import HTTPTypes
package import Hummingbird
import NIOCore
import TidemarkHub
import TidemarkNode
import TidemarkTelemetry

extension API {
    /// The routes of the listener for operators: `/livez`, `/readyz` and `/metrics`. None of them asks who calls, so that it
    /// must not be where clients come.
    ///
    /// - Parameter figures: Prometheus' text, as of now.
    package func adminRouter(figures: @escaping @Sendable () async -> String) -> Router<APIContext> {
        let router = Router(context: APIContext.self)
        router.add(middleware: errorAnswers)
        router.get("/livez") { _, _ in Response(json: Array(#"{"ok":true}"#.utf8)) }
        router.get("/readyz") { _, _ in try await readiness() }
        router.get("/metrics") { _, _ in
            Response(
                status: .ok, headers: [.contentType: MetricRegistry.contentType, .cacheControl: "no-store"],
                body: .init(byteBuffer: ByteBuffer(string: await figures())))
        }
        return router
    }
}
