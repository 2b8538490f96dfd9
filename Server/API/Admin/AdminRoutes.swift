import HTTPTypes
package import Hummingbird
import NIOCore
package import TidemarkEdge
import TidemarkHub
import TidemarkIdentity
import TidemarkModel
import TidemarkNode
import TidemarkStore
import TidemarkTelemetry

extension API {
    /// The routes of the listener for operators. `/livez`, `/readyz` and `/metrics` need no token, so that clients must
    /// not be able to reach this listener. Everything under `/admin/v1` requires a token (deploy/admin.md).
    ///
    /// - Parameters:
    ///   - figures: returns the metrics in Prometheus' text format.
    ///   - gate: `nil` if there are no tokens: then there is no API either.
    ///   - sites: judges the host name of each call, and the origin of the page that makes it.
    package func adminRouter(
        figures: @escaping @Sendable () async -> String, gate: AdminGate?, sites: SiteCheck
    ) -> Router<APIContext> {
        let router = Router(context: APIContext.self)
        router.add(middleware: errorAnswers)
        router.add(
            middleware: SiteGate(sites: sites) { fault, context in
                node.parts.telemetry.security.note(
                    .site, fault.rawValue, peer: peer(context.channel)?.ipAddress, context.trace.logged)
            })
        router.look("/livez") { Response(json: Array(#"{"ok":true}"#.utf8)) }
        router.look("/readyz") { try await readiness() }
        router.look("/metrics") {
            Response(
                status: .ok, headers: [.contentType: MetricRegistry.contentType, .cacheControl: "no-store"],
                body: .init(byteBuffer: ByteBuffer(string: await figures())))
        }
        guard let gate else {
            // An operator who opens the console learns what is missing.
            router.get("/") { _, _ -> Response in
                throw APIError(
                    .notFound, "not_found",
                    "the console needs tokens for operators: start the server with --admin-token-file FILE"
                        + " (TIDEMARK_ADMIN_TOKEN_FILE, admin_token_file), see deploy/admin.md")
            }
            return router
        }
        addConsole(to: router)
        func get(_ path: String, _ call: @escaping @Sendable (AdminQuery) async throws -> Fields) {
            router.get("/admin/v1/\(path)") { request, context in
                _ = try await gate.caller(request, context, of: self)
                return Response(try await call(AdminQuery(request)))
            }
        }
        router.get("/admin/v1/me") { request, context in
            let holder = try await gate.caller(request, context, of: self)
            return Response(["name": .string(holder.name), "read_only": .boolean(holder.isReadOnly)])
        }
        get("connections", adminConnections)
        get("connections/closed", adminClosedConnections)
        get("refused", adminRefusedWrites)
        get("workspaces", adminWorkspaces)
        get("scope", adminScope)
        get("devices", adminDevices)
        get("device", adminDevice)
        get("record", adminRecord)
        get("why", adminWhy)
        get("search", adminSearch)
        get("backups", adminBackups)
        get("audit", adminAudit)
        router.post("/admin/v1/may") { request, context in
            _ = try await gate.caller(request, context, of: self)
            return Response(try await adminMay(try await body(of: request)))
        }
        router.post("/admin/v1/verify") { request, context in
            _ = try await gate.caller(request, context, of: self)
            return Response(try await adminVerify(AdminQuery(request), try await body(of: request)))
        }
        router.post("/admin/v1/revocations") { request, context in
            let name = try await gate.changer(request, context, of: self)
            return try await adminRevoke(try await body(of: request), by: name)
        }
        addAdminAccounts(to: router, gate)
        return router
    }

    /// Carries out an operator's act, and logs it before and after.
    func keeping<Value>(_ act: OperatorAct, _ body: () async throws -> Value) async throws -> Value {
        try await node.operating.keeping(act, body)
    }

    /// `GET /admin/v1/audit?before=N&limit=N`: the operators' acts, newest first.
    func adminAudit(_ query: AdminQuery) async throws -> Fields {
        let (before, limit) = (try query.number("before") ?? .max, try query.limit(100, max: 1_000))
        let acts = try await node.operating.acts(before: before, limit: limit)
        var answer = Fields()
        answer.put(
            "acts",
            acts.map { act in
                var fields: Fields = [
                    "number": .integer(act.number), "time": .integer(act.time), "who": .string(act.who),
                    "act": .string(act.kind.rawValue), "argument": .string(act.argument), "why": .string(act.reason),
                ]
                fields.put("workspace", act.workspace?.text)
                fields.put("user", act.user?.text)
                fields.put("outcome", act.outcome)
                return fields
            })
        answer.put("more", acts.count == limit)
        return answer
    }
}
