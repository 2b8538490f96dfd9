import Hummingbird
import TidemarkHub
import TidemarkModel
import TidemarkNode
import TidemarkSequencer
import TidemarkStore
import TidemarkWire

/// The calls for client ids: users register, list and remove their own.
extension API {
    /// `POST /v1/clients`: binds a client id to the caller; the same call again gets the same answer.
    func register(_ call: (identity: Identity, body: RegisterCall)) async throws -> Response {
        let registration = try await node.register(
            call.body.client, for: call.identity.principal.user, in: call.identity.workspace)
        switch registration {
        case .registered(let row):
            return Response(json: RegisterAnswer(client: row.id, settledThrough: row.settledThrough).encode())
        case .taken: throw APIError(.conflict, "client_taken", "the client id belongs to another user")
        case .tooMany:
            throw APIError(
                .tooManyRequests, "quota", "the user has too many clients, all of them in use: remove one")
        case .tooFast(let wait): throw tooFast(wait)
        }
    }

    /// `GET /v1/clients`: the caller's own, in the order in which they would be replaced.
    func clients(of identity: Identity) async throws -> Response {
        let (user, workspace) = (identity.principal.user, identity.workspace)
        let clients = try await node.readGate.pass(for: workspace) {
            () async throws(StoreError) -> [RegisteredClient] in
            try await node.store.clients(of: user, in: workspace)
        }
        let answer = ClientsAnswer(
            clients: clients.map {
                .init(id: $0.id, settledThrough: $0.settledThrough, registered: $0.registered, seen: $0.seen)
            })
        return Response(json: answer.encode())
    }

    /// `DELETE /v1/clients/ID`: removes one of the caller's own clients, and ends its connections.
    func removeClient(_ context: APIContext, of identity: Identity) async throws -> Response {
        guard let client = context.parameters.get("client").flatMap({ UniqueID($0) }) else {
            throw APIError(.badRequest, "invalid", "the path has no valid client id")
        }
        let (user, workspace) = (identity.principal.user, identity.workspace)
        if let wait = node.takeRegistration(of: user, in: workspace) { throw tooFast(wait) }
        guard try await node.remove(client, of: user, in: workspace) else {
            throw APIError(.notFound, "not_found", "the user has no such client")
        }
        return Response(status: .noContent)
    }

    private func tooFast(_ wait: Int64) -> APIError {
        .busy(.tooManyRequests, .rateLimited, "clients: too many registered or removed at once", retryAfter: wait)
    }
}
