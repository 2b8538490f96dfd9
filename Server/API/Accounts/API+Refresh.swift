import Hummingbird
import TidemarkHub
import TidemarkIdentity
import TidemarkModel
import TidemarkNode
import TidemarkSequencer
import TidemarkStore
import TidemarkWire

/// Refreshing with a refresh token, and signing out.
extension API {
    /// The number of tries: of simultaneous calls with one token, each but one finds it taken.
    private static let triesMax = 8

    /// `POST /v1/accounts/refresh`: the next tokens; the same refresh token once more gets the same next one.
    func refresh(_ visit: AccountVisit) async throws -> Response {
        guard let token = visit.desk.keys.refreshToken(visit.call.refresh ?? "", in: visit.workspace) else {
            throw refused(.token, visit)
        }
        try take(.refresh(visit.workspace, token.user, token.client), for: visit)
        guard await node.knowsRevocations() else {
            throw APIError.busy(
                .serviceUnavailable, .unavailable, "the token cannot be checked now",
                retryAfter: node.context.timing.retry)
        }
        let store = visit.desk.store
        for _ in 0..<Self.triesMax {
            let now = node.now()
            let time = earliestToken(of: token.user, token.client, visit, now: now)
            let stored = try await store.signIn(of: token.client, user: token.user, in: visit.workspace)
            guard var signIn = stored, signIn.nonce == token.nonce else { throw refused(.ended, visit) }
            try await requireLiving(signIn, visit, now: now)
            let counter = signIn.counter
            switch signIn.use(token.number, now: now) {
            case .again: return try tokens(of: signIn, at: time, visit)
            case .stale:
                try await endStolen(signIn, visit)
                throw refused(.stolen, visit)
            case .taken:
                if try await store.advance(signIn, from: counter, in: visit.workspace) {
                    return try tokens(of: signIn, at: time, visit)
                }
            }
        }
        throw refused(.busy, visit)
    }

    /// `POST /v1/accounts/logout`: 204, even for an invalid token.
    func logOut(_ visit: AccountVisit) async throws -> Response {
        guard let token = visit.desk.keys.refreshToken(visit.call.refresh ?? "", in: visit.workspace) else {
            return Response(status: .noContent)
        }
        try take(.refresh(visit.workspace, token.user, token.client), for: visit)
        let wasSignedIn = try await visit.desk.store.endSignIn(
            of: token.client, user: token.user, nonce: token.nonce, in: visit.workspace)
        if wasSignedIn { try await revokeDevice(token.client, of: token.user, in: visit.workspace) }
        return Response(status: .noContent)
    }

    private func requireLiving(_ signIn: SignIn, _ visit: AccountVisit, now: Milliseconds) async throws {
        let reason: AccountRefusal
        if signIn.isOver(after: visit.desk.rules.limits.idleMax, now: now) {
            reason = .idle
        } else {
            let identity = Identity(
                principal: Principal(user: signIn.user), workspace: visit.workspace, expires: .max,
                issuedAt: signIn.began)
            // A revoked workspace requires newer tokens, which this call issues.
            guard node.revocations.judge(identity, .named(signIn.client)) == .signedOut else { return }
            reason = .revoked
        }
        _ = try await visit.desk.store.endSignIn(
            of: signIn.client, user: signIn.user, nonce: signIn.nonce, in: visit.workspace)
        throw refused(reason, visit)
    }

    /// Ends a sign-in of which two copies of the token are in use. Nobody knows which of them is the thief's, so both
    /// are signed out.
    private func endStolen(_ signIn: SignIn, _ visit: AccountVisit) async throws {
        let (workspace, user, client) = (visit.workspace, signIn.user, signIn.client)
        _ = try await visit.desk.store.endSignIn(of: client, user: user, nonce: signIn.nonce, in: workspace)
        guard node.mayRevokeDevice(of: user, in: workspace) else { return }
        let act = OperatorAct(
            .revoke, by: node.context.serverName, at: node.now(), in: workspace, user: user,
            argument: "device \(client)", reason: "a refresh token was used again after its successor: it was copied")
        try await keeping(act) { try await revokeDevice(client, of: user, in: workspace) }
    }

    /// Revokes the device's access tokens, unless the user has revoked so many lately that they are left to expire:
    /// each revocation takes room on every node for a month.
    private func revokeDevice(_ client: ClientID, of user: UserID, in workspace: WorkspaceID) async throws {
        guard node.mayRevokeDevice(of: user, in: workspace) else { return }
        _ = try await node.revoke(.client(client, of: user), in: workspace)
    }

    /// Ends the sign-ins that an operator or a user has revoked.
    func endSignIns(of subject: Revocation.Subject, in workspace: WorkspaceID) async throws(StoreError) {
        guard let desk = accounts else { return }
        switch subject {
        // Its devices get other tokens.
        case .workspace: break
        case .user(let user): try await desk.store.endSignIns(of: user, in: workspace)
        case .client(let client, let user):
            _ = try await desk.store.endSignIn(of: client, user: user, nonce: nil, in: workspace)
        }
    }
}
