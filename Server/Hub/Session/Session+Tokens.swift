package import TidemarkModel
import TidemarkWire

/// Tokens are checked outside of the session, and a check may take a while: this is the session's behaviour until the
/// answer.
///
/// Before the welcome only `bye` may follow `hello`, so that nothing has to wait. An open connection continues under
/// its present token.
extension Session {
    /// The maximum number of tokens of one open connection that wait for their check; a client sends a token when it
    /// has a fresh one.
    private static let renewalsMax = 4
    /// The maximum size of a token; no issuer's tokens are longer.
    private static let tokenBytesMax = 8 * 1_024
    static let uncheckedReason = "the token cannot be checked now; try again"

    /// Ends the session if its token is too long to be checked, and returns true then.
    mutating func endsTooLong(_ token: String, into effects: inout [SessionEffect]) -> Bool {
        guard token.utf8.count > Self.tokenBytesMax else { return false }
        close(.unauthenticated, "the token is too long", into: &effects)
        return true
    }

    /// Handles `auth`: another token for the same user.
    mutating func renew(_ auth: Auth, into effects: inout [SessionEffect]) {
        guard renewals.count < Self.renewalsMax else {
            return close(.rateLimited, "auth: more than \(Self.renewalsMax) tokens at once", into: &effects)
        }
        guard !endsTooLong(auth.token, into: &effects) else { return }
        renewals.append(auth.token)
        if renewals.count == 1 { effects.append(.verify(id, auth.token)) }
    }

    /// Handles the answer to `verify`.
    package mutating func verified(_ verdict: TokenVerdict, now: Milliseconds, into effects: inout [SessionEffect]) {
        switch phase {
        case .verifying, .streaming: break
        case .opened, .loading, .closed: return
        }
        switch verdict {
        case .refused(let reason): close(.unauthenticated, reason, into: &effects)
        case .revoked(let revoked): close(revoked, into: &effects)
        case .unavailable: close(.unavailable, Self.uncheckedReason, into: &effects)
        case .accepted(let fresh) where phase == .streaming: take(fresh, into: &effects)
        case .accepted(let identity): begin(as: identity, into: &effects)
        }
    }

    /// Handles the expiry of an open connection's token; true when that ends the session. While another token is being
    /// checked, it has a little longer.
    mutating func endsExpired(
        _ identity: Identity, now: Milliseconds, into effects: inout [SessionEffect]
    ) -> Bool {
        if renewals.isEmpty {
            close(.unauthenticated, "the token expired", into: &effects)
        } else if now - identity.acceptedUntil >= context.timing.tokenCheckMax {
            close(.unavailable, Self.uncheckedReason, into: &effects)
        }
        return isClosed
    }

    private mutating func take(_ fresh: Identity, into effects: inout [SessionEffect]) {
        guard !renewals.isEmpty else { return }
        renewals.removeFirst()
        guard fresh.principal == identity?.principal, fresh.workspace == identity?.workspace else {
            return close(.workspaceForbidden, "auth: the token is for someone else", into: &effects)
        }
        identity = fresh
        send(.authOK(AuthOK(expires: fresh.expires)), into: &effects)
        if let next = renewals.first { effects.append(.verify(id, next)) }
    }
}
