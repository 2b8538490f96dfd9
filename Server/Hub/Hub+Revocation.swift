import TidemarkModel
import TidemarkStore
import TidemarkWire

extension Hub {
    /// Closes the connections whose tokens were revoked. Sessions that are not welcomed yet are judged when they are.
    mutating func revoked(_ revocation: Revocation, into effects: inout [SessionEffect]) {
        guard let workspace = workspaces[revocation.workspace] else { return }
        let ids: [SessionID]
        switch revocation.subject {
        case .workspace: ids = workspace.byUser.values.flatMap(\.self)
        case .user(let user): ids = Array(workspace.byUser[user] ?? [])
        case .client(let client, _): ids = workspace.byClient[client].map { [$0] } ?? []
        }
        var book = RevocationBook()
        book.add(revocation)
        for id in ids.sorted() {
            guard let session = sessions[id], let identity = session.identity,
                let revoked = book.judge(identity, .named(session.client))
            else { continue }
            self.revoked(id, revoked, into: &effects)
        }
    }

    /// Closes a connection whose token was revoked, if it is still open.
    mutating func revoked(_ id: SessionID, _ revoked: RevokedToken, into effects: inout [SessionEffect]) {
        update(id, into: &effects) { session, _, effects in session.close(revoked, into: &effects) }
    }
}

extension Session {
    /// Ends the session because its token was revoked. A client that is signed out gets the code that every version of
    /// clients treats as such: it stops until a new sign-in.
    mutating func close(_ revoked: RevokedToken, into effects: inout [SessionEffect]) {
        switch revoked {
        case .signedOut: close(.workspaceForbidden, revoked.reason, into: &effects)
        case .outdated: close(.unauthenticated, revoked.reason, into: &effects)
        }
    }
}
