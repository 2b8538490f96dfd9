import TidemarkLock
package import TidemarkModel

/// The accounts of a workspace.
struct MemoryAccounts: Sendable {
    private struct Device: Hashable {
        let user: UserID
        let client: ClientID
    }

    private var accounts: [String: Account] = [:]
    private var signIns: [Device: SignIn] = [:]

    subscript(login: String) -> Account? { accounts[login] }

    func account(of user: UserID) -> Account? { accounts.values.first { $0.user == user } }

    func accounts(after login: String?, limit: Int) -> [Account] {
        let rest = accounts.values.filter { account in login.map { $0.byteOrder(account.login) < 0 } ?? true }
        return Array(rest.sorted { $0.login.byteOrder($1.login) < 0 }.prefix(max(0, limit)))
    }

    mutating func add(_ account: Account) -> AccountAddition {
        if accounts[account.login] != nil { return .loginTaken }
        if self.account(of: account.user) != nil { return .userTaken }
        accounts[account.login] = account
        return .added
    }

    mutating func replace(_ account: Account, endingSignIns: Bool) -> Bool {
        guard accounts[account.login]?.version == account.version else { return false }
        var next = account
        next.version += 1
        accounts[account.login] = next
        if endingSignIns { endSignIns(of: account.user) }
        return true
    }

    func signIn(of client: ClientID, user: UserID) -> SignIn? { signIns[Device(user: user, client: client)] }

    mutating func begin(_ signIn: SignIn, version: Int64) -> Bool {
        guard let account = account(of: signIn.user), account.version == version, account.disabled == nil else {
            return false
        }
        signIns[Device(user: signIn.user, client: signIn.client)] = signIn
        let own = signIns.values.filter { $0.user == signIn.user }.sorted {
            ($1.used, $0.client) < ($0.used, $1.client)
        }
        for old in own.dropFirst(SignIn.perUserMax) { signIns[Device(user: old.user, client: old.client)] = nil }
        return true
    }

    mutating func advance(_ signIn: SignIn, from counter: Int64) -> Bool {
        let device = Device(user: signIn.user, client: signIn.client)
        guard let stored = signIns[device], stored.nonce == signIn.nonce, stored.counter == counter else {
            return false
        }
        signIns[device]?.counter = signIn.counter
        signIns[device]?.used = signIn.used
        return true
    }

    mutating func endSignIn(of client: ClientID, user: UserID, nonce: Int64?) -> Bool {
        let device = Device(user: user, client: client)
        guard let stored = signIns[device], nonce.map({ $0 == stored.nonce }) ?? true else { return false }
        signIns[device] = nil
        return true
    }

    mutating func endSignIns(of user: UserID) { signIns = signIns.filter { $0.key.user != user } }

    mutating func forgetSignIns(usedBefore time: Milliseconds, limit: Int) -> Int {
        let old = signIns.filter { $0.value.used < time }.keys.prefix(max(0, limit))
        for device in old { signIns[device] = nil }
        return old.count
    }

    mutating func erase(_ user: UserID) {
        accounts = accounts.filter { $0.value.user != user }
        endSignIns(of: user)
    }
}

extension InMemoryStore: AccountStore {
    package func account(_ login: String, in workspace: WorkspaceID) async throws(StoreError) -> Account? {
        tables.withLock { $0.workspaces[workspace]?.accounts[login] }
    }

    package func account(of user: UserID, in workspace: WorkspaceID) async throws(StoreError) -> Account? {
        tables.withLock { $0.workspaces[workspace]?.accounts.account(of: user) }
    }

    package func accounts(
        in workspace: WorkspaceID, after login: String?, limit: Int
    ) async throws(StoreError) -> [Account] {
        tables.withLock { $0.workspaces[workspace]?.accounts.accounts(after: login, limit: limit) ?? [] }
    }

    package func add(_ account: Account, in workspace: WorkspaceID) async throws(StoreError) -> AccountAddition {
        try tables.withLock { tables throws(StoreError) in
            if tables.erased.contains(workspace) { throw .erasedWorkspace }
            return tables.workspaces[workspace, default: WorkspaceTables()].accounts.add(account)
        }
    }

    package func replace(
        _ account: Account, endingSignIns: Bool, in workspace: WorkspaceID
    ) async throws(StoreError) -> Bool {
        tables.withLock {
            $0.workspaces[workspace]?.accounts.replace(account, endingSignIns: endingSignIns) ?? false
        }
    }

    package func signIn(
        of client: ClientID, user: UserID, in workspace: WorkspaceID
    ) async throws(StoreError) -> SignIn? {
        tables.withLock { $0.workspaces[workspace]?.accounts.signIn(of: client, user: user) }
    }

    package func beginSignIn(
        _ signIn: SignIn, version: Int64, in workspace: WorkspaceID
    ) async throws(StoreError) -> Bool {
        tables.withLock { $0.workspaces[workspace]?.accounts.begin(signIn, version: version) ?? false }
    }

    package func advance(
        _ signIn: SignIn, from counter: Int64, in workspace: WorkspaceID
    ) async throws(StoreError) -> Bool {
        tables.withLock { $0.workspaces[workspace]?.accounts.advance(signIn, from: counter) ?? false }
    }

    package func endSignIn(
        of client: ClientID, user: UserID, nonce: Int64?, in workspace: WorkspaceID
    ) async throws(StoreError) -> Bool {
        tables.withLock {
            $0.workspaces[workspace]?.accounts.endSignIn(of: client, user: user, nonce: nonce) ?? false
        }
    }

    package func endSignIns(of user: UserID, in workspace: WorkspaceID) async throws(StoreError) {
        tables.withLock { $0.workspaces[workspace]?.accounts.endSignIns(of: user) }
    }

    package func forgetSignIns(
        usedBefore time: Milliseconds, in workspace: WorkspaceID, limit: Int
    ) async throws(StoreError) -> Int {
        tables.withLock { $0.workspaces[workspace]?.accounts.forgetSignIns(usedBefore: time, limit: limit) ?? 0 }
    }
}
