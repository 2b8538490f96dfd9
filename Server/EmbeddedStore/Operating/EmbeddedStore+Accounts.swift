import GRDB
package import TidemarkModel
import TidemarkSQLite
package import TidemarkStore

/// Each call is one transaction.
extension EmbeddedStore: AccountStore {
    package func account(_ login: String, in workspace: WorkspaceID) async throws(StoreError) -> Account? {
        try await account(AccountSQL.account, login, in: workspace)
    }

    package func account(of user: UserID, in workspace: WorkspaceID) async throws(StoreError) -> Account? {
        try await account(AccountSQL.accountOfUser, user.text, in: workspace)
    }

    private func account(
        _ sql: String, _ key: String, in workspace: WorkspaceID
    ) async throws(StoreError) -> Account? {
        try await onReader { db in
            try Prepared(sql, db).first(
                {
                    $0.text(workspace.text)
                    $0.text(key)
                }, { $0.account() })
        }
    }

    package func accounts(
        in workspace: WorkspaceID, after login: String?, limit: Int
    ) async throws(StoreError) -> [Account] {
        try await onReader { db in
            try Prepared(AccountSQL.accounts, db).all(
                {
                    $0.text(workspace.text)
                    $0.text(login ?? "")
                    $0.integer(Int64(max(0, limit)))
                }, { $0.account() })
        }
    }

    package func add(_ account: Account, in workspace: WorkspaceID) async throws(StoreError) -> AccountAddition {
        try await onWriter { [erased] db in
            try erased.check(workspace)
            var addition = AccountAddition.added
            try db.inTransaction(.immediate) {
                try Prepared(EmbeddedSQL.makeWorkspace, db).execute { $0.text(workspace.text) }
                let count = try Prepared(AccountSQL.add, db).execute {
                    $0.changing(account, in: workspace)
                    $0.text(account.user.text)
                }
                guard count == 0 else { return .commit }
                let same = try Prepared(AccountSQL.account, db).first(
                    {
                        $0.text(workspace.text)
                        $0.text(account.login)
                    }, { $0.account() })
                addition = same == nil ? .userTaken : .loginTaken
                return .rollback
            }
            return addition
        }
    }

    package func replace(
        _ account: Account, endingSignIns: Bool, in workspace: WorkspaceID
    ) async throws(StoreError) -> Bool {
        try await onWriter { db in
            var isReplaced = false
            try db.inTransaction(.immediate) {
                isReplaced = try Prepared(AccountSQL.replace, db).execute { $0.changing(account, in: workspace) } > 0
                guard isReplaced, endingSignIns else { return .commit }
                try Prepared(AccountSQL.endSignIns, db).execute {
                    $0.text(workspace.text)
                    $0.text(account.user.text)
                }
                return .commit
            }
            return isReplaced
        }
    }

    package func signIn(
        of client: ClientID, user: UserID, in workspace: WorkspaceID
    ) async throws(StoreError) -> SignIn? {
        try await onReader { db in
            try Prepared(AccountSQL.signIn, db).first(
                {
                    $0.text(workspace.text)
                    $0.text(user.text)
                    $0.id(client)
                }, { try $0.signIn() })
        }
    }

    package func beginSignIn(
        _ signIn: SignIn, version: Int64, in workspace: WorkspaceID
    ) async throws(StoreError) -> Bool {
        try await onWriter { db in
            var isBegun = false
            try db.inTransaction(.immediate) {
                isBegun =
                    try Prepared(AccountSQL.begin, db).execute {
                        $0.text(workspace.text)
                        $0.text(signIn.user.text)
                        $0.integer(version)
                        $0.id(signIn.client)
                        $0.integer(signIn.nonce)
                        $0.integer(signIn.counter)
                        $0.integer(signIn.began)
                        $0.integer(signIn.used)
                    } > 0
                guard isBegun else { return .rollback }
                try Prepared(AccountSQL.dropUnused, db).execute {
                    $0.text(workspace.text)
                    $0.text(signIn.user.text)
                    $0.integer(Int64(SignIn.perUserMax))
                }
                return .commit
            }
            return isBegun
        }
    }

    package func advance(
        _ signIn: SignIn, from counter: Int64, in workspace: WorkspaceID
    ) async throws(StoreError) -> Bool {
        try await onWriter { db in
            try Prepared(AccountSQL.advance, db).execute {
                $0.text(workspace.text)
                $0.text(signIn.user.text)
                $0.id(signIn.client)
                $0.integer(signIn.nonce)
                $0.integer(signIn.counter)
                $0.integer(signIn.used)
                $0.integer(counter)
            } > 0
        }
    }

    package func endSignIn(
        of client: ClientID, user: UserID, nonce: Int64?, in workspace: WorkspaceID
    ) async throws(StoreError) -> Bool {
        try await onWriter { db in
            try Prepared(AccountSQL.end, db).execute {
                $0.text(workspace.text)
                $0.text(user.text)
                $0.id(client)
                if let nonce { $0.integer(nonce) } else { $0.null() }
            } > 0
        }
    }

    package func endSignIns(of user: UserID, in workspace: WorkspaceID) async throws(StoreError) {
        try await onWriter { db in
            _ = try Prepared(AccountSQL.endSignIns, db).execute {
                $0.text(workspace.text)
                $0.text(user.text)
            }
        }
    }

    package func forgetSignIns(
        usedBefore time: Milliseconds, in workspace: WorkspaceID, limit: Int
    ) async throws(StoreError) -> Int {
        try await onWriter { db in
            try Prepared(AccountSQL.forget, db).execute {
                $0.text(workspace.text)
                $0.integer(time)
                $0.integer(Int64(max(0, limit)))
            }
        }
    }
}

extension Binding {
    /// Binds nine values, in the order of `AccountSQL`.
    fileprivate mutating func changing(_ account: Account, in workspace: WorkspaceID) {
        text(workspace.text)
        text(account.login)
        text(account.hash)
        integer(account.created)
        integer(account.changed)
        if let disabled = account.disabled { integer(disabled) } else { null() }
        if let reset = account.reset {
            text(reset.digest)
            integer(reset.until)
        } else {
            null()
            null()
        }
        integer(account.version)
    }
}

extension ColumnReader {
    fileprivate mutating func account() -> Account {
        var account = Account(
            login: text(), user: UserID(text()), hash: text(), created: integer(), changed: integer(),
            disabled: optionalInteger())
        let (digest, until) = (optionalText(), optionalInteger())
        account.reset = digest.flatMap { digest in until.map { PasswordReset(digest: digest, until: $0) } }
        account.version = integer()
        return account
    }

    fileprivate mutating func signIn() throws -> SignIn {
        SignIn(
            user: UserID(text()), client: try id(), nonce: integer(), counter: integer(), began: integer(),
            used: integer())
    }
}
