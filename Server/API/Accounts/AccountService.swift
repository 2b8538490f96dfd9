package import TidemarkIdentity
import TidemarkLock
package import TidemarkModel
package import TidemarkStore

/// What the calls of accounts work with (`Identity/ACCOUNTS.md`).
package final class AccountService: Sendable {
    /// What an operator has decided.
    package struct Rules: Sendable {
        /// Those that have accounts; at least one.
        package var workspaces: [WorkspaceID]
        /// Whether anybody may make an account; else operators alone do.
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
    /// Tells the operator's program of tokens that set another password; `nil` where there is none.
    let resets: ResetDesk?
    let random: @Sendable () -> UInt64
    private let throttles: Lock<AccountThrottles>

    /// - Parameter random: as secret as a password has to be.
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

    /// Takes a call, or tells after how many milliseconds one can be made.
    func take(_ call: AccountThrottles.Call, from address: String?, now: Milliseconds) -> Int64? {
        throttles.withLock { $0.take(call, from: address, now: now) }
    }

    /// A user that nobody is yet.
    func newUser() -> UserID { UserID("\(UniqueID(high: random(), low: random()))") }

    func newNonce() -> Int64 { Int64(bitPattern: random()) }
}

/// Why nobody was signed in, as operators see it counted. Who called is told less.
package enum AccountRefusal: String, Sendable, CaseIterable {
    /// The name is nobody's.
    case unknown
    case password
    case disabled
    /// A refresh token that was not given out here, or a token for another password that does not count.
    case token
    /// The device is not signed in, or not any more.
    case ended
    /// Nobody used the device for too long.
    case idle
    /// The device or its user was signed out meanwhile.
    case revoked
    /// A refresh token that was used before the one before the last: somebody has a copy.
    case stolen
    /// Nobody but an operator makes accounts.
    case closed
    /// Too often.
    case rate
    /// There was no room for another hash.
    case busy
}
