import Hummingbird
import TidemarkHub
import TidemarkModel
import TidemarkNode
import TidemarkStore
import TidemarkWire

/// The calls that sign out devices and users.
extension API {
    /// `POST /v1/revocations`: revokes the tokens that were issued until now. Users revoke their own devices, or all of
    /// them; the operator revokes any.
    func revoke(_ request: Request, of identity: Identity) async throws -> Response {
        _ = try await claim(Self.value("client", of: request) { UniqueID($0) }, of: identity)
        let call = try revocationCall(try await body(of: request))
        let own = identity.principal.user
        if !identity.isOperator {
            guard call.workspace == nil || call.workspace == identity.workspace, call.user == nil || call.user == own,
                !call.isWorkspace, !call.isPurge
            else {
                throw APIError(
                    .forbidden, "forbidden", "users may revoke only their own devices, in the workspace of the token")
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

    /// The caller of a revocation, which decides what they may revoke.
    enum Revoker {
        /// May revoke everything; the act is kept under this name.
        case `operator`(String)
        /// May revoke only the user's own devices.
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
        var isKnown: Bool?
        switch revoker {
        case .user: revocation = try await carryOut(call, on: subject, in: workspace)
        case .operator(let name):
            isKnown = try await hasDevices(subject, in: workspace)
            let act = OperatorAct(
                call.isPurge ? .purge : .revoke, by: name, at: node.now(), in: workspace, user: subject.user,
                argument: subject.argument, reason: call.reason)
            revocation = try await keeping(act) { try await carryOut(call, on: subject, in: workspace) }
        }
        var writer = JSONWriter(capacity: 64)
        writer.integer("{\"not_before\":", revocation.notBefore)
        if let isKnown { writer.literal(isKnown ? ",\"known\":true" : ",\"known\":false") }
        writer.byte(UInt8(ascii: "}"))
        return Response(json: writer.bytes)
    }

    /// Whether the server knows a device of the users whom a revocation concerns. A revocation is valid without one,
    /// since a token may be in use that has no device yet; a mistyped name has no device either.
    private func hasDevices(_ subject: Revocation.Subject, in workspace: WorkspaceID) async throws -> Bool {
        let user = subject.user
        return try await node.readGate.pass(for: workspace) { () async throws(StoreError) -> Bool in
            !(try await node.devices(of: user, in: workspace, after: nil, limit: 1).isEmpty)
        }
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
                throw APIError(.badRequest, "invalid", "revocation: \"client\", \"user\" or \"all\" is required")
            }
            return .user(user)
        }
        let owner = try await node.readGate.pass(for: workspace) { () async throws(StoreError) -> UserID? in
            try await node.owner(of: client, in: workspace)
        }
        // A user must not learn whether another user's device exists.
        var asked = call.user
        if case .user(let own) = revoker { asked = own }
        guard let owner, asked == nil || owner == asked else {
            throw APIError(.notFound, "not_found", "there is no such client")
        }
        if case .user = revoker, !node.mayRevokeDevice(of: owner, in: workspace) {
            throw APIError(
                .tooManyRequests, "quota",
                "the user has revoked many devices lately: revoke all of them, by \"user\"")
        }
        return .client(client, of: owner)
    }

    /// `GET /v1/devices`: a page of devices: a user's own, or for the operator those of a workspace.
    func devices(_ request: Request, of identity: Identity) async throws -> Response {
        let caller = try await claim(Self.value("client", of: request) { UniqueID($0) }, of: identity)
        let workspace = try Self.value("workspace", of: request) { WorkspaceID(checking: $0) } ?? identity.workspace
        var user = try Self.value("user", of: request) { UserID(checking: $0) }
        let place = try Self.value("after", of: request) { UniqueID($0) }
        if !identity.isOperator {
            let own = identity.principal.user
            guard workspace == identity.workspace, user == nil || user == own else {
                throw APIError(
                    .forbidden, "forbidden", "users may list only their own devices, in the workspace of the token")
            }
            user = own
        }
        let (limit, owner) = (Self.devicesPerPage, user)
        var answer = DevicesAnswer(devices: [], hasMore: false)
        if identity.isOperator {
            let (devices, sights) = try await listedByAll(of: owner, in: workspace, after: place, limit: limit)
            (answer.devices, answer.servers, answer.silent) = (devices, Int64(sights.others + 1), Int64(sights.silent))
        } else {
            // A user's call must not make all servers work.
            answer.devices = try await node.readGate.pass(for: workspace) {
                () async throws(StoreError) -> [ListedDevice] in
                try await node.devices(of: owner, in: workspace, after: place, limit: limit)
            }
        }
        answer.hasMore = answer.devices.count == limit
        // If the caller was signed out during the read, its result is not sent.
        try requireUnrevoked(identity, caller)
        return Response(json: answer.encode())
    }

    private static func value<Value>(
        _ name: Substring, of request: Request, _ read: (String) -> Value?
    ) throws(APIError) -> Value? {
        guard let text = request.uri.queryParameters[name] else { return nil }
        guard let value = read(String(text)) else {
            throw APIError(.badRequest, "invalid", "devices: \"\(name)\" is invalid")
        }
        return value
    }

    private static let devicesPerPage = 500
}

extension Revocation.Subject {
    /// The user whom it concerns; `nil` for everybody.
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

/// `{"client":"…"}`, `{"user":"…"}` or `{"all":true}`; for the operator also with `"workspace"`, `"purge"` and `"why"`.
struct RevocationCall {
    var workspace: WorkspaceID?
    var user: UserID?
    var client: ClientID?
    /// True to revoke everybody's tokens of the workspace.
    var isWorkspace = false
    /// True to remove the device's registration as well.
    var isPurge = false
    /// The operator's reason.
    var reason = ""

    init(decoding bytes: [UInt8]) throws {
        try JSONReader.read(bytes) { reader in
            try reader.object { reader, key in
                switch key {
                case "workspace":
                    guard let id = WorkspaceID(checking: try reader.string()) else {
                        throw reader.failure("\"workspace\" is invalid")
                    }
                    workspace = id
                case "user":
                    guard let id = UserID(checking: try reader.string()) else {
                        throw reader.failure("\"user\" is invalid")
                    }
                    user = id
                case "client":
                    guard let id = UniqueID(try reader.string()) else { throw reader.failure("\"client\" is invalid") }
                    client = id
                case "all": isWorkspace = try reader.boolean()
                case "purge": isPurge = try reader.boolean()
                case "why": reason = try reader.string()
                default: try reader.skip()
                }
            }
            if isWorkspace, user != nil || client != nil {
                throw reader.failure("\"all\" cannot be combined with \"user\" or \"client\"")
            }
            if isPurge, client == nil { throw reader.failure("\"purge\" requires \"client\"") }
        }
    }
}
