import HTTPTypes
package import Hummingbird
package import NIOCore
import TidemarkModel
import TidemarkSequencer
import TidemarkSession
import TidemarkWire

/// The calls over HTTP: the same conversation as on the socket, for programs without one (PROTOCOL.md, "HTTP").
package struct API: Sendable {
    let node: Node
    let schemaName: String
    let schemaVersion: Int64
    let rates: RateBook<Census.Client>
    let polls: PollCount
    private let markAuthenticated: @Sendable (any Channel) -> Void

    /// - Parameter markAuthenticated: told of each connection that proved its token.
    package init(node: Node, markAuthenticated: @escaping @Sendable (any Channel) -> Void) {
        self.node = node
        self.markAuthenticated = markAuthenticated
        schemaName = node.context.admission.schema.name
        schemaVersion = node.context.admission.schema.version
        let limits = node.context.limits
        rates = RateBook(perSecond: limits.transactionsPerSecond, burst: limits.transactionsBurst)
        polls = PollCount(max: node.limits.longPollsMax)
    }

    /// The routes; add more to it before it serves.
    package func router() -> Router<APIContext> {
        let router = Router(context: APIContext.self)
        router.add(middleware: ErrorAnswers(retryAfter: node.context.timing.retry))
        router.get("/healthz") { _, _ in Response(json: Array(#"{"ok":true}"#.utf8)) }
        router.get("/readyz") { _, _ in try await readiness() }
        router.get("/v1/info") { _, _ in Response(json: profile.encode()) }
        router.post("/v1/clients") { request, context in
            try await register(try await call(request, context, RegisterCall.decode))
        }
        router.post("/v1/push") { request, context in try await push(request, context) }
        router.post("/v1/pull") { request, context in
            try await pull(try await call(request, context, PullCall.decode))
        }
        router.post("/v1/page") { request, context in
            try await page(try await call(request, context, PageRequest.decode))
        }
        router.post("/v1/history") { request, context in
            try await history(try await call(request, context, HistoryRequest.decode))
        }
        router.put("/v1/blobs/:digest") { request, context in
            try await counted { try await putBlob(request, context) }
        }
        router.get("/v1/blobs/:digest") { request, context in
            try await counted { try await getBlob(request, context, isLook: false) }
        }
        router.head("/v1/blobs/:digest") { request, context in
            try await counted { try await getBlob(request, context, isLook: true) }
        }
        return router
    }

    private var profile: ServerProfile {
        ServerProfile(
            server: node.context.serverName, schemaName: schemaName, schemaVersion: schemaVersion,
            limits: node.context.limits)
    }

    /// Who calls; a connection that proves it is no stranger any more.
    func authenticate(_ request: Request, _ context: APIContext) throws(APIError) -> Identity {
        guard let token = request.headers[.authorization].flatMap(Self.bearerToken) else {
            throw .unauthenticated(hasToken: false)
        }
        guard let identity = node.context.verify(token, node.now()) else { throw .unauthenticated(hasToken: true) }
        markAuthenticated(context.channel)
        return identity
    }

    /// The whole body, up to the bound that is told to clients.
    func body(of request: Request) async throws -> [UInt8] {
        let buffer = try await request.body.collect(upTo: node.context.limits.messageBytesMax)
        return Array(buffer.readableBytesView)
    }

    private func call<Call>(
        _ request: Request, _ context: APIContext, _ decode: ([UInt8]) throws(WireError) -> Call
    ) async throws -> (Identity, Call) {
        let identity = try authenticate(request, context)
        let bytes = try await body(of: request)
        do throws(WireError) {
            return (identity, try decode(bytes))
        } catch {
            throw APIError(error)
        }
    }

    private static func bearerToken(_ value: String) -> String? {
        let parts = value.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
        return String(parts[1].drop { $0 == " " })
    }
}
