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

/// The calls of accounts, which need no token: their bodies prove who the caller is (PROTOCOL.md, "Accounts").
extension API {
    /// Adds the routes, if there are accounts.
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
            throw APIError(.forbidden, "forbidden", "accounts: the workspace has no accounts")
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
            throw APIError(
                .badRequest, "invalid", "accounts: \"client\" is missing, the id of the device that signs in")
        }
        return client
    }

    /// Returns a password to be checked.
    func tried(_ text: String?) throws(APIError) -> Password {
        do throws(Password.Fault) { return try Password(text ?? "") } catch { throw Self.refused(error) }
    }

    /// Returns a password that is chosen now.
    func chosen(_ text: String?) throws(APIError) -> Password {
        do throws(Password.Fault) { return try Password(chosen: text ?? "") } catch { throw Self.refused(error) }
    }

    private static func refused(_ fault: Password.Fault) -> APIError { APIError(.badRequest, "invalid", "\(fault)") }

    // MARK: Refusals

    /// Counts a call against its rates; throws if there are too many.
    func take(_ call: AccountThrottles.Call, for visit: AccountVisit) throws(APIError) {
        guard let wait = visit.desk.take(call, from: visit.peer, now: node.now()) else { return }
        // The security log's line is that of all calls that exceed a rate.
        node.metrics.signInsRefused.count(AccountRefusal.rate.rawValue)
        throw .busy(.tooManyRequests, .rateLimited, "accounts: too many tries", retryAfter: wait)
    }

    /// Counts a refusal, with a line in the security log that names no user.
    func note(_ refusal: AccountRefusal, _ visit: AccountVisit) {
        node.metrics.signInsRefused.count(refusal.rawValue)
        node.parts.telemetry.security.note(.signIn, refusal.rawValue, peer: visit.peer)
    }

    /// Returns the refusal, and counts it. An unknown name and a wrong password get the same answer.
    func refused(_ refusal: AccountRefusal, _ visit: AccountVisit) -> APIError {
        note(refusal, visit)
        switch refusal {
        case .unknown, .password:
            return APIError(.unauthorized, "unauthenticated", "the name or the password is wrong")
        case .disabled: return APIError(.forbidden, "account_disabled", "the account is disabled")
        case .closed: return APIError(.forbidden, "forbidden", "only the server's operators make accounts")
        case .busy:
            return .busy(
                .serviceUnavailable, .overloaded, "accounts: too many at once", retryAfter: node.context.timing.retry)
        case .token, .ended, .idle, .revoked, .stolen, .rate:
            return APIError(.unauthorized, "unauthenticated", "the token is no longer valid: log in")
        }
    }

    /// Waits for a hash, and turns its failures into answers.
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

    /// Returns the tokens of a signed-in device.
    ///
    /// - Parameter time: `iat` of the access token: a time before its state was read, so that a revocation in the
    ///   meantime applies to it.
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

    /// Returns now, or the time from which the device's tokens are valid if that is later: an earlier token would be
    /// invalid at once.
    func earliestToken(
        of user: UserID, _ client: ClientID, _ visit: AccountVisit, now: Milliseconds
    ) -> Milliseconds {
        max(now, node.revocations.notBefore(of: client, user: user, in: visit.workspace) ?? now)
    }
}
