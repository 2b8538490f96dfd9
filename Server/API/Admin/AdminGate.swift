import HTTPTypes
import Hummingbird
package import TidemarkIdentity
import TidemarkModel
import TidemarkNode
import TidemarkSequencer
import TidemarkTelemetry

/// Admits operators, by their tokens.
package struct AdminGate: Sendable {
    /// Returns the holder of a token; `nil` for an invalid one.
    private let judge: @Sendable (String) -> AdminTokens.Holder?

    package init(_ judge: @escaping @Sendable (String) -> AdminTokens.Holder?) { self.judge = judge }

    /// Returns the name of a caller who may change something.
    ///
    /// - Throws: like ``caller(_:_:of:)``, and for a read-only token.
    func changer(_ request: Request, _ context: APIContext, of api: API) async throws -> String {
        let holder = try await caller(request, context, of: api)
        guard !holder.isReadOnly else {
            throw APIError(.forbidden, "forbidden", "the token of \(holder.name) is read-only")
        }
        return holder.name
    }

    /// Returns the caller.
    ///
    /// - Throws: for a call from a page of another origin, and for one without a valid token. A call without a valid
    ///   token waits for its refusal, which is logged and counted.
    func caller(_ request: Request, _ context: APIContext, of api: API) async throws -> AdminTokens.Holder {
        try Self.refuseOtherSites(request)
        guard let token = request.headers[.authorization].flatMap(API.bearerToken), let holder = judge(token) else {
            api.node.metrics.tokensRefused.count(Self.label)
            api.node.parts.telemetry.security.note(
                .token, Self.label, peer: api.peer(context.channel)?.ipAddress, context.trace.logged)
            try await api.node.parts.environment.clock.sleep(for: api.node.limits.adminRefusalPause)
            throw APIError.unauthenticated("this call needs a token for operators: see --admin-token-file")
        }
        return holder
    }

    /// Refuses calls from pages of other origins, as browsers state them: only our own page makes calls.
    static func refuseOtherSites(_ request: Request) throws(APIError) {
        guard let site = HTTPField.Name("Sec-Fetch-Site").flatMap({ request.headers[$0] }) else { return }
        guard site == "same-origin" || site == "none" else {
            throw APIError(.forbidden, "forbidden", "pages of other origins may not call the operators' API")
        }
    }

    private static let label = "admin"
}

/// The query of a call.
struct AdminQuery {
    private let request: Request

    init(_ request: Request) { self.request = request }

    /// Returns a member; `nil` if it is absent or empty.
    func text(_ name: String) -> String? {
        let text = request.uri.queryParameters[Substring(name)].map(String.init)
        return text?.isEmpty == false ? text : nil
    }

    func workspace() throws(APIError) -> WorkspaceID? { try id("workspace", WorkspaceID.init(checking:)) }

    func user() throws(APIError) -> UserID? { try id("user", UserID.init(checking:)) }

    func client() throws(APIError) -> ClientID? { try id("client") { UniqueID($0) } }

    func scope() throws(APIError) -> ScopeID? { try id("scope", ScopeID.init(checking:)) }

    func number(_ name: String) throws(APIError) -> Int64? { try id(name) { Int64($0) } }

    /// Returns the limit, at least 1.
    func limit(_ usual: Int, max: Int) throws(APIError) -> Int {
        guard let wanted = try number("limit") else { return usual }
        return Int(clamping: min(Int64(max), Swift.max(1, wanted)))
    }

    /// - Throws: if it is absent.
    func required<Value>(_ name: String, _ value: Value?) throws(APIError) -> Value {
        guard let value else { throw APIError(.badRequest, "invalid", "\"\(name)\" is missing") }
        return value
    }

    func id<Value>(_ name: String, _ read: (String) -> Value?) throws(APIError) -> Value? {
        guard let text = text(name) else { return nil }
        guard let value = read(text) else { throw APIError(.badRequest, "invalid", "\"\(name)\" is invalid") }
        return value
    }
}

extension Fields {
    /// Sets a member if there is a value.
    mutating func put(_ name: String, _ value: String?) { if let value { self[name] = .string(value) } }
    mutating func put(_ name: String, _ value: Int64?) { if let value { self[name] = .integer(value) } }
    mutating func put(_ name: String, _ value: Bool?) { if let value { self[name] = .boolean(value) } }
    mutating func put(_ name: String, _ values: [Fields]) { self[name] = .array(values.map { .object($0) }) }
}

extension Response {
    /// An answer of the operators' API.
    init(_ fields: Fields) { self.init(json: fields.canonicalBytes) }
}
