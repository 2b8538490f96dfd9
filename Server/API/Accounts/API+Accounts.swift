import Hummingbird
import Logging
import NIOCore
import TidemarkHub
import TidemarkIdentity
import TidemarkModel
import TidemarkNode
import TidemarkSequencer
import TidemarkStore
import TidemarkTelemetry
import TidemarkWire

/// The calls of accounts, which need no token: who makes them proves who he is by what is in them (PROTOCOL.md, "Accounts").
extension API {
    /// Adds them; nothing where there are no accounts.
    func addAccounts(to router: Router<APIContext>) {
        guard let desk = accounts else { return }
        func post(_ name: String, _ answer: @escaping @Sendable (AccountVisit) async throws -> Response) {
            router.post("/v1/accounts/\(name)") { request, context in
                let bytes = try await request.body.collect(upTo: AccountCall.bytesMax)
                return try await answer(try visit(Array(bytes.readableBytesView), context, desk))
            }
        }
        post("register", registerAccount)
        post("login", logIn)
        post("refresh", refresh)
        post("password", changePassword)
        post("logout", logOut)
        post("reset", resetPassword)
    }

    private func visit(
        _ bytes: [UInt8], _ context: APIContext, _ desk: AccountService
    ) throws(APIError) -> AccountVisit {
        let call: AccountCall
        do {
            call = try AccountCall(decoding: bytes)
        } catch {
            throw APIError(.badRequest, "invalid", "accounts: \(error)")
        }
        let known = desk.rules.workspaces
        guard let workspace = call.workspace ?? (known.count == 1 ? known.first : nil) else {
            throw APIError(.badRequest, "invalid", "accounts: \"workspace\" is missing")
        }
        guard known.contains(workspace) else {
            throw APIError(.forbidden, "forbidden", "accounts: that workspace has none")
        }
        return AccountVisit(call: call, peer: peer(context.channel)?.ipAddress, workspace: workspace, desk: desk)
    }

    // MARK: What a call brings

    func login(of visit: AccountVisit) throws(APIError) -> LoginName {
        guard let login = visit.call.login.flatMap(LoginName.init) else {
            throw APIError(
                .badRequest, "invalid",
                "login: 1 to \(LoginName.bytesMax) bytes without white space and control characters")
        }
        return login
    }

    func client(of visit: AccountVisit) throws(APIError) -> ClientID {
        guard let client = visit.call.client else {
            throw APIError(.badRequest, "invalid", "accounts: \"client\" is missing: which device is signed in")
        }
        return client
    }

    /// A password that is tried.
    func tried(_ text: String?) throws(APIError) -> Password {
        do throws(Password.Fault) { return try Password(text ?? "") } catch { throw Self.refused(error) }
    }

    /// A password that is chosen now.
    func chosen(_ text: String?) throws(APIError) -> Password {
        do throws(Password.Fault) { return try Password(chosen: text ?? "") } catch { throw Self.refused(error) }
    }

    private static func refused(_ fault: Password.Fault) -> APIError { APIError(.badRequest, "invalid", "\(fault)") }

    // MARK: Refusals

    /// Counts against the rates of a call.
    func take(_ call: AccountThrottles.Call, for visit: AccountVisit) throws(APIError) {
        guard let wait = visit.desk.take(call, from: visit.peer, now: node.now()) else { return }
        // The line of it is that of all calls that come too fast.
        node.metrics.signInsRefused.count(AccountRefusal.rate.rawValue)
        throw .busy(.tooManyRequests, .rateLimited, "accounts: too many tries", retryAfter: wait)
    }

    /// Counts a refusal, with a line in the security log that names nobody.
    func note(_ refusal: AccountRefusal, _ visit: AccountVisit) {
        node.metrics.signInsRefused.count(refusal.rawValue)
        node.parts.telemetry.security.note(.signIn, refusal.rawValue, peer: visit.peer)
    }

    /// The one answer to whoever is not who he says.
    func refused(_ refusal: AccountRefusal, _ visit: AccountVisit) -> APIError {
        note(refusal, visit)
        switch refusal {
        case .unknown, .password:
            return APIError(.unauthorized, "unauthenticated", "the name or the password is wrong")
        case .disabled: return APIError(.forbidden, "account_disabled", "the account lets nobody in")
        case .closed: return APIError(.forbidden, "forbidden", "accounts are made by whoever runs the server")
        case .busy:
            return .busy(
                .serviceUnavailable, .overloaded, "accounts: too many at once", retryAfter: node.context.timing.retry)
        case .token, .ended, .idle, .revoked, .stolen, .rate:
            return APIError(.unauthorized, "unauthenticated", "the token does not count any more: log in")
        }
    }

    /// Waits for a hash.
    func computed<Value: Sendable>(
        for visit: AccountVisit, _ body: () async throws -> Value
    ) async throws -> Value {
        do {
            return try await body()
        } catch is PasswordHasher.Busy {
            throw refused(.busy, visit)
        } catch is CancellationError {
            throw APIError.busy(
                .serviceUnavailable, .draining, "the server is stopping", retryAfter: node.context.timing.retry)
        }
    }

    // MARK: Answers

    /// The tokens of a device that is signed in.
    ///
    /// - Parameter time: `iat` of the access token: before anything was read that it rests on, so that what is revoked meanwhile
    ///   counts against it.
    func tokens(
        of signIn: SignIn, at time: Milliseconds, _ visit: AccountVisit, isNew: Bool = false
    ) throws -> Response {
        let keys = visit.desk.keys
        let access = try keys.access(signIn.user, in: visit.workspace, at: time)
        let refresh = RefreshToken(
            user: signIn.user, client: signIn.client, nonce: signIn.nonce, number: signIn.counter)
        let answer: Fields = [
            "user": .string(signIn.user.text), "workspace": .string(visit.workspace.text),
            "client": .string("\(signIn.client)"), "token": .string(access.token), "exp": .integer(access.expires),
            "refresh": .string(keys.text(of: refresh, in: visit.workspace)),
        ]
        return Response(json: answer.canonicalBytes, status: isNew ? .created : .ok)
    }

    /// Now, or when what was revoked for a device is over, if that is later: a token of before would be dead at its birth.
    func earliestToken(
        of user: UserID, _ client: ClientID, _ visit: AccountVisit, now: Milliseconds
    ) -> Milliseconds {
        max(now, node.revocations.notBefore(of: client, user: user, in: visit.workspace) ?? now)
    }
}
