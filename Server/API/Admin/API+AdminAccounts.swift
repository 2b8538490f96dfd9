import Hummingbird
import NIOCore
import TidemarkHub
import TidemarkIdentity
import TidemarkModel
import TidemarkNode
import TidemarkSequencer
import TidemarkStore
import TidemarkWire

/// The operators' calls for accounts.
extension API {
    private static let importMax = 1_000
    private static let triesMax = 3

    /// Adds the routes, if there are accounts.
    func addAdminAccounts(to router: Router<APIContext>, _ gate: AdminGate) {
        guard let desk = accounts else { return }
        router.get("/admin/v1/accounts") { request, context in
            _ = try await gate.caller(request, context, of: self)
            return Response(try await adminAccounts(AdminQuery(request), desk))
        }
        router.post("/admin/v1/accounts") { request, context in
            let name = try await gate.changer(request, context, of: self)
            return Response(try await changeAccount(try accountAct(try await body(of: request)), by: name, desk))
        }
        router.post("/admin/v1/accounts/import") { request, context in
            let name = try await gate.changer(request, context, of: self)
            return Response(try await importAccounts(try await body(of: request), by: name, desk))
        }
    }

    /// `GET /admin/v1/accounts?workspace=&after=&limit=`, in the order of their names.
    private func adminAccounts(_ query: AdminQuery, _ desk: AccountService) async throws -> Fields {
        let workspace = try query.required("workspace", try query.workspace())
        let limit = try query.limit(100, max: 500)
        let found = try await desk.store.accounts(in: workspace, after: query.text("after"), limit: limit)
        var answer = Fields()
        answer.put(
            "accounts",
            found.map { account in
                var fields: Fields = [
                    "login": .string(account.login), "user": .string(account.user.text),
                    "created": .integer(account.created), "changed": .integer(account.changed),
                    "password": .string(PasswordHash.scheme(of: account.hash) ?? "none"),
                ]
                fields.put("disabled", account.disabled)
                return fields
            })
        answer.put("more", found.count == limit)
        return answer
    }

    private func accountAct(_ bytes: [UInt8]) throws(APIError) -> AccountAct {
        do { return try AccountAct(decoding: bytes) } catch {
            throw APIError(.badRequest, "invalid", "accounts: \(error)")
        }
    }

    /// `POST /admin/v1/accounts`.
    private func changeAccount(_ act: AccountAct, by name: String, _ desk: AccountService) async throws -> Fields {
        var line = OperatorAct(
            .account, by: name, at: node.now(), in: act.workspace, user: act.user, argument: act.kind.rawValue,
            reason: act.reason)
        let stored = try await desk.store.account(act.login.text, in: act.workspace)
        if act.kind == .add {
            let user = act.user ?? desk.newUser()
            // If the name is taken, the act concerns the user whom it belongs to.
            line.user = stored?.user ?? user
            return try await keeping(line) { try await add(act, for: user, desk) }
        }
        guard let account = stored else { throw APIError(.notFound, "not_found", "there is no such account") }
        line.user = account.user
        return try await keeping(line) { try await carryOut(act, on: account, desk) }
    }

    private func add(_ act: AccountAct, for user: UserID, _ desk: AccountService) async throws -> Fields {
        guard desk.rules.workspaces.contains(act.workspace) else {
            throw APIError(.forbidden, "forbidden", "the workspace has no accounts: see --accounts-workspaces")
        }
        let account = Account(login: act.login.text, user: user, hash: "", created: node.now())
        try await put(account, in: act.workspace, desk)
        return try await carryOut(act, on: account, desk)
    }

    /// - Returns: the account's login and user, and a reset token if the act makes one.
    private func carryOut(_ act: AccountAct, on found: Account, _ desk: AccountService) async throws -> Fields {
        var account: Account? = found
        for _ in 0..<Self.triesMax {
            guard let stored = account else { break }
            var answer: Fields = ["login": .string(stored.login), "user": .string(stored.user.text)]
            var next = stored
            switch act.kind {
            case .add, .reset:
                let until = node.now() + desk.rules.limits.resetLifetime
                let made = try await stored.reset(in: act.workspace, desk.store, until: until, desk.random)
                if let made {
                    answer.put("reset", made.token.text)
                    answer.put("until", made.until)
                    return answer
                }
            case .enable:
                next.disabled = nil
                if try await desk.store.replace(next, endingSignIns: false, in: act.workspace) { return answer }
            case .disable:
                next.disabled = stored.disabled ?? node.now()
                if try await desk.store.replace(next, endingSignIns: true, in: act.workspace) {
                    _ = try await node.revoke(.user(stored.user), in: act.workspace)
                    return answer
                }
            }
            account = try await desk.store.account(stored.login, in: act.workspace)
        }
        throw APIError.busy(
            .conflict, .unavailable, "the account is being changed by others: try again",
            retryAfter: node.context.timing.retry)
    }

    /// `POST /admin/v1/accounts/import`: adds the accounts whose name and user are free. Each of them is a line of the
    /// audit, which names the user in its own column. An existing account is left as it is, which is no act.
    private func importAccounts(_ bytes: [UInt8], by name: String, _ desk: AccountService) async throws -> Fields {
        let call: AccountImport
        do {
            call = try AccountImport(decoding: bytes, max: Self.importMax, newUser: desk.newUser, now: node.now())
        } catch {
            throw APIError(.badRequest, "invalid", "accounts: \(error)")
        }
        guard desk.rules.workspaces.contains(call.workspace) else {
            throw APIError(.forbidden, "forbidden", "the workspace has no accounts: see --accounts-workspaces")
        }
        var line = OperatorAct(
            .account, by: name, at: node.now(), in: call.workspace, argument: "import", reason: call.reason)
        var (added, taken): (Int64, [String]) = (0, [])
        for account in call.accounts {
            guard try await desk.store.account(account.login, in: call.workspace) == nil else {
                taken.append(account.login)
                continue
            }
            line.user = account.user
            do {
                try await keeping(line) { try await put(account, in: call.workspace, desk) }
                added += 1
            } catch let error as APIError where error.status == .conflict {
                taken.append(account.login)
            }
        }
        return ["added": .integer(added), "taken": .array(taken.map { .string($0) })]
    }

    /// - Throws: `conflict` if the name or the user is taken.
    private func put(_ account: Account, in workspace: WorkspaceID, _ desk: AccountService) async throws {
        switch try await desk.store.add(account, in: workspace) {
        case .added: break
        case .loginTaken: throw APIError(.conflict, "login_taken", "the login name is taken")
        case .userTaken: throw APIError(.conflict, "conflict", "the user already has an account")
        }
    }
}
