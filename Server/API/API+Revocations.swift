import Hummingbird
import TidemarkHub
import TidemarkModel
import TidemarkNode
import TidemarkStore
import TidemarkWire

/// The calls that sign out devices and users.
extension API {
    /// `POST /v1/revocations`: tokens that were issued until now count no more. A user revokes own devices, or all of them;
    /// the operator whatever there is.
    func revoke(_ request: Request, of identity: Identity) async throws -> Response {
        let call = try revocationCall(try await body(of: request))
        let own = identity.principal.user
        if !identity.isOperator {
            guard call.workspace == nil || call.workspace == identity.workspace, call.user == nil || call.user == own,
                !call.isWorkspace, !call.isPurge
            else {
                throw APIError(.forbidden, "forbidden", "a user revokes own devices, in the workspace of the token")
            }
            if let wait = node.takeRevocation(of: own, in: identity.workspace) {
                throw APIError.busy(
                    .tooManyRequests, .rateLimited, "revocation: too many at once", retryAfter: wait)
            }
        }
        return try await revoke(
            call, in: call.workspace ?? identity.workspace,
            as: identity.isOperator ? .operator(own.text) : .user(own))
    }

    /// Who revokes.
    enum Revoker {
        /// Whatever there is; what is done by that name is kept.
        case `operator`(String)
        /// Only what is the user's own.
        case user(UserID)
    }

    func revocationCall(_ bytes: [UInt8]) throws(APIError) -> RevocationCall {
        do {
            return try RevocationCall(decoding: bytes)
        } catch {
            throw APIError(.badRequest, "invalid", "revocation: \(error)")
        }
    }

    func revoke(_ call: RevocationCall, in workspace: WorkspaceID, as revoker: Revoker) async throws -> Response {
        let subject = try await subject(of: call, in: workspace, revoker)
        let revocation: Revocation
        switch revoker {
        case .user: revocation = try await carryOut(call, on: subject, in: workspace)
        case .operator(let name):
            let act = OperatorAct(
                call.isPurge ? .purge : .revoke, by: name, at: node.now(), in: workspace, user: subject.user,
                argument: subject.argument, reason: call.reason)
            revocation = try await keeping(act) { try await carryOut(call, on: subject, in: workspace) }
        }
        var writer = JSONWriter(capacity: 64)
        writer.literal("{\"not_before\":")
        writer.integer(revocation.notBefore)
        writer.byte(UInt8(ascii: "}"))
        return Response(json: writer.bytes)
    }

    private func carryOut(
        _ call: RevocationCall, on subject: Revocation.Subject, in workspace: WorkspaceID
    ) async throws -> Revocation {
        let revocation = try await node.revoke(subject, in: workspace)
        try await endSignIns(of: subject, in: workspace)
        if call.isPurge, case .client(let client, let user) = subject {
            _ = try await node.remove(client, of: user, in: workspace)
        }
        return revocation
    }

    private func subject(
        of call: RevocationCall, in workspace: WorkspaceID, _ revoker: Revoker
    ) async throws -> Revocation.Subject {
        if call.isWorkspace { return .workspace }
        guard let client = call.client else {
            guard let user = call.user else {
                throw APIError(.badRequest, "invalid", "revocation: names no client, user or workspace")
            }
            return .user(user)
        }
        let owner = try await node.readGate.pass { () async throws(StoreError) -> UserID? in
            try await node.owner(of: client, in: workspace)
        }
        // To a user, a device of somebody else is as one that is not there.
        var asked = call.user
        if case .user(let own) = revoker { asked = own }
        guard let owner, asked == nil || owner == asked else {
            throw APIError(.notFound, "not_found", "there is no such client")
        }
        if case .user = revoker, !node.mayRevokeDevice(of: owner, in: workspace) {
            throw APIError(
                .tooManyRequests, "quota", "the user has revoked many devices of late: revoke all of them, by \"user\"")
        }
        return .client(client, of: owner)
    }

    /// `GET /v1/devices`: the devices of a workspace, a page at a time; for the operator.
    func devices(_ request: Request, of identity: Identity) async throws -> Response {
        try requireOperator(identity)
        let query = request.uri.queryParameters
        let workspace = try query["workspace"].map { name in
            guard let id = WorkspaceID(checking: String(name)) else { throw Self.malformedQuery("workspace") }
            return id
        }
        let user = try query["user"].map { name in
            guard let id = UserID(checking: String(name)) else { throw Self.malformedQuery("user") }
            return id
        }
        let place = try query["after"].map { text in
            guard let id = UniqueID(String(text)) else { throw Self.malformedQuery("after") }
            return id
        }
        let (limit, target) = (Self.devicesPerPage, workspace ?? identity.workspace)
        let devices = try await node.readGate.pass { () async throws(StoreError) -> [Device] in
            try await node.revocationStore.devices(of: user, in: target, after: place, limit: limit)
        }
        var writer = JSONWriter(capacity: devices.count * 256 + 64)
        writer.literal("{\"devices\":")
        writer.array(devices) { writer, device in write(device, in: target, &writer) }
        writer.literal(",\"more\":")
        writer.literal(devices.count == limit ? "true}" : "false}")
        return Response(json: writer.bytes)
    }

    private static let devicesPerPage = 500

    private static func malformedQuery(_ name: String) -> APIError {
        APIError(.badRequest, "invalid", "devices: \"\(name)\" does not read")
    }

    private func write(_ device: Device, in workspace: WorkspaceID, _ writer: inout JSONWriter) {
        writer.literal("{\"id\":")
        writer.string(device.id.description)
        writer.literal(",\"user\":")
        writer.string(device.user.text)
        if let app = device.app {
            writer.literal(",\"app\":")
            writer.string(app)
        }
        writer.literal(",\"registered\":")
        writer.integer(device.registered)
        writer.literal(",\"seen\":")
        writer.integer(max(device.seen, device.registered))
        writer.literal(",\"settled\":")
        writer.integer(device.settledThrough)
        writer.literal(",\"acked\":")
        writer.integer(device.ackedThrough)
        if let time = node.revocations.notBefore(of: device.id, user: device.user, in: workspace) {
            writer.literal(",\"revoked\":")
            writer.integer(time)
        }
        writer.byte(UInt8(ascii: "}"))
    }
}

extension Revocation.Subject {
    /// Whom it concerns; `nil` for everybody.
    fileprivate var user: UserID? {
        switch self {
        case .workspace: nil
        case .user(let user), .client(_, let user): user
        }
    }

    fileprivate var argument: String {
        switch self {
        case .workspace: "all"
        case .user: "user"
        case .client(let client, _): "device \(client)"
        }
    }
}

/// `{"client":"…"}`, `{"user":"…"}` or `{"all":true}`, with `"workspace"`, `"purge"` and `"why"` for the operator.
struct RevocationCall {
    var workspace: WorkspaceID?
    var user: UserID?
    var client: ClientID?
    /// Everybody's tokens of the workspace.
    var isWorkspace = false
    /// The device's registration goes as well.
    var isPurge = false
    /// As the operator says.
    var reason = ""

    init(decoding bytes: [UInt8]) throws {
        try JSONReader.read(bytes) { reader in
            try reader.object { reader, key in
                switch key {
                case "workspace":
                    guard let id = WorkspaceID(checking: try reader.string()) else { throw reader.failure("no name") }
                    workspace = id
                case "user":
                    guard let id = UserID(checking: try reader.string()) else { throw reader.failure("no name") }
                    user = id
                case "client":
                    guard let id = UniqueID(try reader.string()) else { throw reader.failure("no client id") }
                    client = id
                case "all": isWorkspace = try reader.boolean()
                case "purge": isPurge = try reader.boolean()
                case "why": reason = try reader.string()
                default: try reader.skip()
                }
            }
            if isWorkspace, user != nil || client != nil {
                throw reader.failure("\"all\" stands for itself")
            }
            if isPurge, client == nil { throw reader.failure("\"purge\" is for a client") }
        }
    }
}
