import Hummingbird
import TidemarkIdentity
import TidemarkModel
import TidemarkNode
import TidemarkStore

/// Another password for whoever has forgotten his.
extension API {
    /// `POST /v1/accounts/reset`: asks for a token, or sets another password by one.
    func resetPassword(_ visit: AccountVisit) async throws -> Response {
        guard let text = visit.call.reset else { return try askForReset(visit) }
        let (client, next) = (try client(of: visit), try chosen(visit.call.password))
        try take(.resetToken, for: visit)
        guard let token = ResetToken(text),
            let account = try await visit.desk.store.account(of: token.user, in: visit.workspace),
            let reset = account.reset, token.isKept(as: reset.digest), reset.until >= node.now()
        else { throw refused(.token, visit) }
        guard account.disabled == nil else { throw refused(.disabled, visit) }
        return try await setPassword(next, of: account, client, visit)
    }

    /// The answer comes before anything is looked up: it is the same for every name, and takes as long.
    private func askForReset(_ visit: AccountVisit) throws -> Response {
        guard let resets = visit.desk.resets else {
            throw APIError(.notFound, "not_found", "passwords are set by whoever runs the server")
        }
        let login = try login(of: visit)
        try take(.reset(visit.workspace, login: login.text), for: visit)
        guard resets.ask(login.text, in: visit.workspace) else { throw refused(.busy, visit) }
        return Response(json: Array(#"{"ok":true}"#.utf8), status: .accepted)
    }
}
