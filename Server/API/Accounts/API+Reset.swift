import Hummingbird
import TidemarkIdentity
import TidemarkModel
import TidemarkNode
import TidemarkStore

/// Setting another password after the user has forgotten theirs.
extension API {
    /// `POST /v1/accounts/reset`: requests a token, or sets another password by one.
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

    /// Answers before anything is looked up, so that answer and duration are the same for every name.
    private func askForReset(_ visit: AccountVisit) throws -> Response {
        guard let resets = visit.desk.resets else {
            throw APIError(.notFound, "not_found", "this server sends no reset tokens: ask its operator for one")
        }
        let login = try login(of: visit)
        try take(.reset(visit.workspace, login: login.text), for: visit)
        guard resets.ask(login.text, in: visit.workspace) else { throw refused(.busy, visit) }
        return Response(json: Array(#"{"ok":true}"#.utf8), status: .accepted)
    }
}
