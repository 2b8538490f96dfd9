import HTTPTypes
package import Hummingbird
package import NIOCore
import TidemarkHub
import TidemarkModel
package import TidemarkNode
import TidemarkSequencer
import TidemarkStore
import TidemarkWire

/// The calls over HTTP: the same protocol as on the socket, for programs that use no socket (PROTOCOL.md, "HTTP").
package struct API: Sendable {
    let node: Node
    let rates: RateBook<PushCaller>
    /// The rate at which a user's clients may be looked up.
    let lookups: RateBook<Caller>
    let polls: PollCount
    let readinessChecks: SharedAnswer<StoreError.Fault?>
    /// The accounts; `nil` if the server has none.
    let accounts: AccountService?
    /// Web origins whose pages may call.
    let origins: Set<String>
    let peer: @Sendable (any Channel) -> SocketAddress?
    private let markAuthenticated: @Sendable (any Channel) -> Void

    /// - Parameters:
    ///   - accounts: `nil` if there are none; then their calls do not exist.
    ///   - origins: web origins whose pages may call.
    ///   - peer: returns the peer's address of a connection.
    ///   - markAuthenticated: called with each connection that proved its token.
    package init(
        node: Node, accounts: AccountService? = nil, origins: Set<String> = [],
        peer: @escaping @Sendable (any Channel) -> SocketAddress? = { $0.remoteAddress },
        markAuthenticated: @escaping @Sendable (any Channel) -> Void
    ) {
        self.node = node
        self.accounts = accounts
        self.origins = origins
        self.peer = peer
        self.markAuthenticated = markAuthenticated
        let limits = node.context.limits
        rates = RateBook(perSecond: limits.transactionsPerSecond, burst: limits.transactionsBurst)
        lookups = RateBook(
            perSecond: node.limits.clientLookupsPerSecond, burst: node.limits.clientLookupsBurst)
        polls = PollCount(max: node.limits.longPollsMax)
        readinessChecks = SharedAnswer(lifetime: node.limits.probeLifetime)
    }

    /// Returns the routes; more can be added before it serves.
    package func router() -> Router<APIContext> {
        let router = Router(context: APIContext.self)
        // First, so that refusals can be read by the pages that may call.
        if !origins.isEmpty { router.add(middleware: CrossOrigin(origins: origins)) }
        router.add(middleware: TraceLines())
        router.add(middleware: errorAnswers)
        router.look("/healthz") { Response(json: Array(#"{"ok":true}"#.utf8)) }
        router.look("/readyz") { try await readiness() }
        router.look("/v1/info") { Response(json: profile.encode()) }
        router.get("/v1/schema") { request, context in
            try await counted(request, context) { try await schemaInForce(for: $0) }
        }
        router.post("/v1/schema") { request, context in
            try await counted(request, context) { try await applySchema(request, of: $0) }
        }
        router.post("/v1/clients") { request, context in
            try await answer(request, context, RegisterCall.decode, register)
        }
        router.get("/v1/clients") { request, context in
            try await counted(request, context) { try await clients(of: $0) }
        }
        router.delete("/v1/clients/:client") { request, context in
            try await counted(request, context) { try await removeClient(context, of: $0) }
        }
        router.get("/v1/devices") { request, context in
            try await counted(request, context, as: .later) { try await devices(request, of: $0) }
        }
        router.post("/v1/revocations") { request, context in
            try await counted(request, context, as: .later, isJudgedAfter: false) { try await revoke(request, of: $0) }
        }
        router.post("/v1/push") { request, context in
            try await counted(request, context, as: .later) { try await push(request, context, of: $0) }
        }
        router.post("/v1/pull") { request, context in
            try await answer(request, context, as: .later, PullCall.decode, pull)
        }
        router.post("/v1/page") { request, context in try await answer(request, context, PageRequest.decode, page) }
        router.post("/v1/history") { request, context in
            try await answer(request, context, HistoryRequest.decode, history)
        }
        addAccounts(to: router)
        router.put("/v1/blobs/:digest") { request, context in
            try await noted {
                try await counted(request, context, as: .later) { try await putBlob(request, context, of: $0) }
            }
        }
        router.get("/v1/blobs/:digest") { request, context in
            try await noted {
                try await counted(request, context, as: .later) {
                    try await getBlob(request, context, of: $0, isLook: false)
                }
            }
        }
        router.head("/v1/blobs/:digest") { request, context in
            try await noted {
                try await counted(request, context, as: .later) {
                    try await getBlob(request, context, of: $0, isLook: true)
                }
            }
        }
        return router
    }

    var errorAnswers: ErrorAnswers {
        ErrorAnswers(retryAfter: node.context.timing.retry, telemetry: node.parts.telemetry, peer: peer)
    }

    private var profile: ServerProfile {
        ServerProfile(
            server: node.context.serverName, schema: node.context.schema, limits: node.context.limits)
    }

    /// Returns the caller's identity, and marks the connection as authenticated.
    private func authenticate(_ request: Request, _ context: APIContext) async throws(APIError) -> Identity {
        guard let token = request.headers[.authorization].flatMap(Self.bearerToken) else { throw .noToken }
        switch await node.verdict(on: token, of: peer(context.channel)?.ipAddress) {
        case .accepted(let identity):
            markAuthenticated(context.channel)
            return identity
        case .refused(let reason): throw .unauthenticated(reason)
        case .revoked(let revoked): throw .unauthenticated(revoked.reason)
        case .unavailable:
            throw .busy(
                .serviceUnavailable, .unavailable, "the token cannot be checked now",
                retryAfter: node.context.timing.retry)
        }
    }

    /// Reads the whole body, up to the limit that clients are given.
    func body(of request: Request) async throws -> [UInt8] {
        let buffer = try await request.body.collect(upTo: node.context.limits.messageBytesMax)
        return Array(buffer.readableBytesView)
    }

    /// Throws if the token is revoked for this device (R-115).
    func requireUnrevoked(_ identity: Identity, _ device: DeviceClaim) throws(APIError) {
        guard let revoked = node.revocations.judge(identity, device) else { return }
        throw .unauthenticated(revoked.reason)
    }

    /// Returns the device that calls, as it states, if the token may be used for it. If one of the user's devices was
    /// revoked, the named device must be registered for the user.
    func claim(_ client: ClientID?, of identity: Identity) async throws -> DeviceClaim {
        let device = client.map { DeviceClaim.named($0) } ?? .unnamed
        try requireUnrevoked(identity, device)
        if let client, node.revocations.asksForDevice(identity) {
            let owner = try await node.owner(of: client, in: identity.workspace)
            guard owner == identity.principal.user else { throw APIError.clientUnknown }
        }
        return device
    }

    /// Authenticates and carries out a call. While it is in progress, it counts against its user, as a connection does.
    ///
    /// - Parameters:
    ///   - device: with `later`, the call itself judges whether the token is revoked for a device.
    ///   - isJudgedAfter: false for a call that may revoke its own token.
    private func counted(
        _ request: Request, _ context: APIContext, as device: DeviceClaim = .unnamed, isJudgedAfter: Bool = true,
        _ call: (Identity) async throws -> Response
    ) async throws -> Response {
        let identity = try await authenticate(request, context)
        try requireUnrevoked(identity, device)
        let user = Caller(workspace: identity.workspace, user: identity.principal.user)
        guard node.connectionCounts.beginCall(of: user) else {
            let message = "the user has \(node.context.limits.callsPerUserMax) calls in progress; wait for one"
            var error = APIError.busy(
                .tooManyRequests, .rateLimited, message, retryAfter: node.context.timing.retry)
            // Otherwise refused calls would leave idle connections.
            error.fields[.connection] = "close"
            throw error
        }
        defer { node.connectionCounts.endCall(of: user) }
        let response = try await call(identity)
        // If the caller was signed out during the call, its result is not sent.
        if isJudgedAfter { try requireUnrevoked(identity, device) }
        return response
    }

    /// Authenticates and carries out a call whose body is JSON.
    private func answer<Call>(
        _ request: Request, _ context: APIContext, as device: DeviceClaim = .unnamed,
        _ decode: ([UInt8]) throws(WireError) -> Call,
        _ call: ((identity: Identity, body: Call)) async throws -> Response
    ) async throws -> Response {
        try await counted(request, context, as: device) { identity in
            let bytes = try await body(of: request)
            let decoded: Call
            do throws(WireError) { decoded = try decode(bytes) } catch { throw APIError(error) }
            return try await call((identity, decoded))
        }
    }

    static func bearerToken(_ value: String) -> String? {
        let parts = value.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
        return String(parts[1].drop { $0 == " " })
    }
}

extension Router<APIContext> {
    /// Adds a call that needs no token, for `GET`, and for `HEAD` with the status alone.
    func look(_ path: RouterPath, _ answer: @escaping @Sendable () async throws -> Response) {
        get(path) { _, _ in try await answer() }
        head(path) { _, _ in try await answer().createHeadResponse() }
    }
}
