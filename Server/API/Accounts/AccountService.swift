package import TidemarkIdentity
import TidemarkLock
package import TidemarkModel
package import TidemarkStore

/// The parts that the calls of accounts use (`Identity/ACCOUNTS.md`).
package final class AccountService: Sendable {
    /// The operator's rules.
    package struct Rules: Sendable {
        /// The workspaces that have accounts; at least one.
        package var workspaces: [WorkspaceID]
        /// True when anybody may make an account, false when only operators do.
        package var isOpen: Bool
        package var limits: AccountLimits

        package init(workspaces: [WorkspaceID], isOpen: Bool, limits: AccountLimits) {
            self.workspaces = workspaces
            self.isOpen = isOpen
            self.limits = limits
        }
    }

    let store: any AccountStore
    let rules: Rules
    let keys: AccountKeys
    let bench: PasswordHasher
    /// Sends reset tokens to the operator's program; `nil` if there is none.
    let resets: ResetDesk?
    let random: @Sendable () -> UInt64
    private let throttles: Lock<AccountThrottles>

    /// - Parameter random: a source that is secret enough for passwords.
    package init(
        store: any AccountStore, rules: Rules, keys: AccountKeys, bench: PasswordHasher, resets: ResetDesk?,
        random: @escaping @Sendable () -> UInt64
    ) {
        self.store = store
        self.rules = rules
        self.keys = keys
        self.bench = bench
        self.resets = resets
        self.random = random
        throttles = Lock(AccountThrottles(rules.limits.rates))
    }

    /// Takes a call from its rate, or returns the milliseconds until one is possible.
    func take(_ call: AccountThrottles.Call, from address: String?, now: Milliseconds) -> Int64? {
        throttles.withLock { $0.take(call, from: address, now: now) }
    }

    /// Returns a user id that is not in use.
    func newUser() -> UserID { UserID("\(UniqueID(high: random(), low: random()))") }

    func newNonce() -> Int64 { Int64(bitPattern: random()) }
}

/// The reason why a sign-in was refused, as operators see it counted. The caller learns less.
package enum AccountRefusal: String, Sendable, CaseIterable {
    /// No account has the name.
    case unknown
    case password
    case disabled
    /// A refresh token that was not issued here, or an invalid reset token.
    case token
    /// The device is not signed in, or no longer.
    case ended
    /// The device was unused for too long.
    case idle
    /// The device or its user was signed out meanwhile.
    case revoked
    /// A refresh token was used after its successor: there is a copy of it.
    case stolen
    /// Only operators make accounts.
    case closed
    /// The calls exceed a rate.
    case rate
    /// Too many hashes are being computed.
    case busy
}
