import Hummingbird
import TidemarkHub
import TidemarkIdentity
import TidemarkModel
import TidemarkNode
import TidemarkStore

/// Signing in with a password.
extension API {
    /// The number of tries if the account is changed at the same time.
    private static let triesMax = 3

    /// `POST /v1/accounts/register`.
    func registerAccount(_ visit: AccountVisit) async throws -> Response {
        guard visit.desk.rules.isOpen else { throw refused(.closed, visit) }
        let (login, client) = (try login(of: visit), try client(of: visit))
        let password = try chosen(visit.call.password)
        try take(.register, for: visit)
        let time = node.now()
        // A name that is taken is hashed too: only the step that takes the name finds that out.
        let hash = try await computed(for: visit) { try await visit.desk.bench.hash(password) }
        let account = Account(login: login.text, user: visit.desk.newUser(), hash: hash, created: time)
        guard try await visit.desk.store.add(account, in: visit.workspace) == .added else {
            throw APIError(.conflict, "login_taken", "the login name is taken: log in, or choose another")
        }
        return try await signIn(account, client, at: time, visit, isNew: true)
    }

    /// `POST /v1/accounts/login`.
    func logIn(_ visit: AccountVisit) async throws -> Response {
        let client = try client(of: visit)
        let (account, time) = try await proved(visit, client)
        return try await signIn(account, client, at: time, visit)
    }

    /// `POST /v1/accounts/password`: sets another password, by the current one. All devices but this one are signed
    /// out, which gets other tokens.
    func changePassword(_ visit: AccountVisit) async throws -> Response {
        let (client, next) = (try client(of: visit), try chosen(visit.call.next))
        let (account, _) = try await proved(visit, client)
        return try await setPassword(next, of: account, client, visit)
    }

    /// Returns the stored account whose name and password a call has, and the `iat` of its tokens. Neither the answer
    /// nor its duration reveals whether such an account exists.
    private func proved(
        _ visit: AccountVisit, _ client: ClientID
    ) async throws -> (account: Account, time: Milliseconds) {
        let (login, password) = (try login(of: visit), try tried(visit.call.password))
        try take(.password(visit.workspace, login: login.text), for: visit)
        for _ in 0..<Self.triesMax {
            let now = node.now()
            let stored = try await visit.desk.store.account(login.text, in: visit.workspace)
            let time = stored.map { earliestToken(of: $0.user, client, visit, now: now) } ?? now
            let verdict = try await computed(for: visit) {
                try await visit.desk.bench.verdict(on: password, stored: stored?.hash)
            }
            guard var account = stored else { throw refused(.unknown, visit) }
            if verdict == .wrong { throw refused(.password, visit) }
            // Only a caller with the password may learn this.
            guard account.disabled == nil else { throw refused(.disabled, visit) }
            if case .rightHashedAnew(let hash) = verdict {
                account.hash = hash
                guard try await visit.desk.store.replace(account, endingSignIns: false, in: visit.workspace) else {
                    continue
                }
                account.version += 1
            }
            return (account, time)
        }
        throw refused(.busy, visit)
    }

    /// Signs a device in, unless the account has another password by now or is disabled.
    private func signIn(
        _ account: Account, _ client: ClientID, at time: Milliseconds, _ visit: AccountVisit, isNew: Bool = false
    ) async throws -> Response {
        let signIn = SignIn(user: account.user, client: client, nonce: visit.desk.newNonce(), began: time)
        var version = account.version
        for _ in 0..<Self.triesMax {
            if try await visit.desk.store.beginSignIn(signIn, version: version, in: visit.workspace) {
                return try tokens(of: signIn, at: time, visit, isNew: isNew)
            }
            let stored = try await visit.desk.store.account(account.login, in: visit.workspace)
            guard let stored, stored.user == account.user, stored.hash == account.hash, stored.disabled == nil else {
                throw refused(.password, visit)
            }
            version = stored.version
        }
        throw refused(.busy, visit)
    }

    /// Sets another password. Everything that was signed in with the one before is signed out on every node: refresh
    /// tokens in the same step, access tokens and connections by a revocation of the user.
    func setPassword(
        _ password: Password, of account: Account, _ client: ClientID, _ visit: AccountVisit
    ) async throws -> Response {
        var changed = account
        changed.hash = try await computed(for: visit) { try await visit.desk.bench.hash(password) }
        (changed.changed, changed.reset) = (node.now(), nil)
        guard try await visit.desk.store.replace(changed, endingSignIns: true, in: visit.workspace) else {
            throw refused(.busy, visit)
        }
        changed.version += 1
        let revocation = try await node.revoke(.user(account.user), in: visit.workspace)
        return try await signIn(changed, client, at: max(node.now(), revocation.notBefore), visit)
    }
}
