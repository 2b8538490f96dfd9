import Testing
import TidemarkHub
import TidemarkModel
import TidemarkStore
import TidemarkWire

/// A session whose token is revoked.
@Suite struct RevokedSessionTests {
    private func welcomed() throws -> OneSession {
        var one = try OneSession(tail: 10)
        one.connect(from: nil, snapshot: 10)
        #expect(one.closed == nil && !one.sent.isEmpty)
        return one
    }

    @Test func `a revocation of its user, device or workspace ends a session, and no other does`() throws {
        let (other, client) = (UniqueID(high: 9, low: 9), OneSession.client)
        for (subject, code) in [
            (.user(OneSession.user), .workspaceForbidden), (.client(client, of: OneSession.user), .workspaceForbidden),
            (.workspace, .unauthenticated), (.user(UserID("bob")), nil), (.client(other, of: OneSession.user), nil),
        ] as [(Revocation.Subject, CloseCode?)] {
            var one = try welcomed()
            one.revoke(subject, in: WorkspaceID("other"))
            #expect(one.closed == nil)
            one.revoke(subject)
            #expect(one.closed == code, "\(subject)")
        }
    }

    @Test func `a revoked token is refused as such, before the welcome and on an open connection`() throws {
        for (revoked, code) in [
            (.signedOut, .workspaceForbidden), (.outdated, .unauthenticated),
        ] as [(RevokedToken, CloseCode)] {
            var new = try OneSession(tail: 10)
            new.holdsTokens = true
            new.connect(from: nil, snapshot: 10)
            new.judge("ann", as: .revoked(revoked))
            #expect(new.closed == code && new.loads.isEmpty && new.sent.isEmpty)

            var open = try welcomed()
            open.holdsTokens = true
            open.say(.auth(Auth(token: "ann")))
            open.judge("ann", as: .revoked(revoked))
            #expect(open.closed == code)

            var late = try welcomed()
            late.findRevoked(revoked)
            #expect(late.closed == code)
        }
    }
}
