package import TidemarkModel
import TidemarkPostgres
package import TidemarkStore

/// Each call is one transaction.
extension PostgresStore: AccountStore {
    package func account(_ login: String, in workspace: WorkspaceID) async throws(StoreError) -> Account? {
        try await read([Statement(AccountSQL.account, workspace) { $0.add(text: login) }])[0].first {
            try $0.account()
        }
    }

    package func account(of user: UserID, in workspace: WorkspaceID) async throws(StoreError) -> Account? {
        try await read([Statement(AccountSQL.accountOfUser, workspace) { $0.add(text: user.text) }])[0].first {
            try $0.account()
        }
    }

    package func accounts(
        in workspace: WorkspaceID, after login: String?, limit: Int
    ) async throws(StoreError) -> [Account] {
        let some = Statement(AccountSQL.accounts, workspace) {
            $0.add(text: login ?? "")
            $0.add(Int64(max(0, limit)))
        }
        return try await read([some])[0].all { try $0.account() }
    }

    /// Runs under the workspace's lock, so that no account outlives an erasure.
    package func add(_ account: Account, in workspace: WorkspaceID) async throws(StoreError) -> AccountAddition {
        let add = Statement(AccountSQL.add, workspace) {
            $0.add(text: account.login)
            $0.add(text: account.user.text)
            $0.add(changing: account)
            $0.add(account.version)
        }
        let look = Statement(AccountSQL.account, workspace) { $0.add(text: account.login) }
        let results = try await writeLocked(workspace, [add, look])
        if try results[0].first({ try $0.integer() }) != nil { return .added }
        return try results[1].first { try $0.account() } == nil ? .userTaken : .loginTaken
    }

    package func replace(
        _ account: Account, endingSignIns: Bool, in workspace: WorkspaceID
    ) async throws(StoreError) -> Bool {
        func add(_ parameters: inout Parameters) {
            parameters.add(text: account.login)
            parameters.add(changing: account)
            parameters.add(account.version)
        }
        guard endingSignIns else {
            return try await changed([Statement(AccountSQL.replace, workspace, add)])[0].first {
                try $0.integer()
            } != nil
        }
        let statements = [
            Statement(AccountSQL.lock, workspace) { $0.add(text: account.user.text) },
            Statement(AccountSQL.replaceAndEnd, workspace) {
                add(&$0)
                $0.add(text: account.user.text)
            },
        ]
        return try await changed(statements)[1].first { try $0.integer() } != nil
    }

    package func signIn(
        of client: ClientID, user: UserID, in workspace: WorkspaceID
    ) async throws(StoreError) -> SignIn? {
        let look = Statement(AccountSQL.signIn, workspace) {
            $0.add(text: user.text)
            $0.add(client)
        }
        return try await read([look])[0].first { try $0.signIn() }
    }

    /// A statement of its own locks the account's row, so that the next one sees earlier changes.
    package func beginSignIn(
        _ signIn: SignIn, version: Int64, in workspace: WorkspaceID
    ) async throws(StoreError) -> Bool {
        let statements = [
            Statement(AccountSQL.lock, workspace) { $0.add(text: signIn.user.text) },
            Statement(AccountSQL.begin, workspace) {
                $0.add(text: signIn.user.text)
                $0.add(version)
                $0.add(signIn.client)
                $0.add(signIn.nonce)
                $0.add(signIn.counter)
                $0.add(signIn.began)
                $0.add(signIn.used)
            },
            Statement(AccountSQL.dropUnused, workspace) {
                $0.add(text: signIn.user.text)
                $0.add(Int64(SignIn.perUserMax))
            },
        ]
        return try await changed(statements)[1].first { try $0.integer() } != nil
    }

    package func advance(
        _ signIn: SignIn, from counter: Int64, in workspace: WorkspaceID
    ) async throws(StoreError) -> Bool {
        let advance = Statement(AccountSQL.advance, workspace) {
            $0.add(text: signIn.user.text)
            $0.add(signIn.client)
            $0.add(signIn.nonce)
            $0.add(signIn.counter)
            $0.add(signIn.used)
            $0.add(counter)
        }
        return try await changed([advance])[0].first { try $0.integer() } != nil
    }

    package func endSignIn(
        of client: ClientID, user: UserID, nonce: Int64?, in workspace: WorkspaceID
    ) async throws(StoreError) -> Bool {
        let end = Statement(AccountSQL.end, workspace) {
            $0.add(text: user.text)
            $0.add(client)
            if let nonce { $0.add(nonce) } else { $0.addNull() }
        }
        return try await changed([end])[0].first { try $0.integer() } != nil
    }

    package func endSignIns(of user: UserID, in workspace: WorkspaceID) async throws(StoreError) {
        _ = try await changed([Statement(AccountSQL.dropSignInsOfUser, workspace) { $0.add(text: user.text) }])
    }

    package func forgetSignIns(
        usedBefore time: Milliseconds, in workspace: WorkspaceID, limit: Int
    ) async throws(StoreError) -> Int {
        let forget = Statement(AccountSQL.forget, workspace) {
            $0.add(time)
            $0.add(Int64(max(0, limit)))
        }
        let begin = transactions.beginWrite + [FenceSQL.check(generation)]
        let results = try await on(reading) { try await $0.run(begin + [forget, Transactions.commit]) }
        return results.dropFirst(begin.count).first?.affectedRows ?? 0
    }

    private func changed(_ statements: [Statement]) async throws(StoreError) -> Results {
        let begin = transactions.beginWrite + [FenceSQL.check(generation)]
        let results = try await on(reading) { try await $0.run(begin + statements + [Transactions.commit]) }
        return Results(results.dropFirst(begin.count))
    }
}

extension Parameters {
    /// Adds the changeable columns of an account, in the order of `AccountSQL`.
    fileprivate mutating func add(changing account: Account) {
        add(text: account.hash)
        add(account.created)
        add(account.changed)
        if let disabled = account.disabled { add(disabled) } else { addNull() }
        if let reset = account.reset {
            add(text: reset.digest)
            add(reset.until)
        } else {
            addNull()
            addNull()
        }
    }
}

extension RowReader {
    fileprivate mutating func account() throws -> Account {
        var account = Account(
            login: try text(), user: UserID(try text()), hash: try text(), created: try integer(),
            changed: try integer(), disabled: try optionalInteger())
        let (digest, until) = (try optionalText(), try optionalInteger())
        account.reset = digest.flatMap { digest in until.map { PasswordReset(digest: digest, until: $0) } }
        account.version = try integer()
        return account
    }

    fileprivate mutating func signIn() throws -> SignIn {
        SignIn(
            user: UserID(try text()), client: try id(), nonce: try integer(), counter: try integer(),
            began: try integer(), used: try integer())
    }
}
