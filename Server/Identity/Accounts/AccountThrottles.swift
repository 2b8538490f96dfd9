package import TidemarkModel

/// The rates of the calls of accounts. Each call has a rate for an address and, if it names one, for an account.
package struct AccountRates: Hashable, Sendable {
    /// Passwords that one address may try: an office behind one address logs in on a Monday morning.
    package var loginByAddress = ThrottleRate(burst: 30, every: 2_000)
    /// Passwords that one address may try for one account.
    package var loginByAddressAndAccount = ThrottleRate(burst: 10, every: 15_000)
    /// Passwords that all addresses together may try for one account. An attacker with many addresses can use it up,
    /// and the owner then has to wait as well.
    package var loginByAccount = ThrottleRate(burst: 60, every: 2_000)
    package var register = ThrottleRate(burst: 10, every: 60_000)
    package var refreshByAddress = ThrottleRate(burst: 1_000, every: 100)
    package var refreshByDevice = ThrottleRate(burst: 10, every: 5_000)
    package var resetByAddress = ThrottleRate(burst: 5, every: 60_000)
    package var resetByAccount = ThrottleRate(burst: 3, every: 600_000)

    package init() {}
}

/// Limits callers to the rates: pure, in bounded memory.
package struct AccountThrottles: Sendable {
    /// A call with the names by which it is counted.
    package enum Call: Hashable, Sendable {
        /// A password is checked, to log in or to set another one.
        case password(WorkspaceID, login: String)
        case register
        case refresh(WorkspaceID, UserID, ClientID)
        /// A reset token is requested, by the login name of an account.
        case reset(WorkspaceID, login: String)
        /// A password is set by a reset token.
        case resetToken
    }

    private struct Person: Hashable {
        let workspace: WorkspaceID
        let name: String
        var address: Address?

        init(workspace: WorkspaceID, name: String) {
            self.workspace = workspace
            self.name = name
        }

        init(_ workspace: WorkspaceID, _ name: String, _ address: Address) {
            self.init(workspace: workspace, name: name)
            self.address = address
        }
    }

    private struct Device: Hashable {
        let workspace: WorkspaceID
        let user: UserID
        let client: ClientID
    }

    /// The network of one address, because an IPv6 subscriber has 2^64 addresses.
    private struct Address: Hashable {
        let bytes: [UInt8]

        init(_ text: String?) {
            let plain = text.map { String($0.prefix { $0 != "%" }) }
            guard let bytes = plain.flatMap(Network.bytes) else {
                self.bytes = []
                return
            }
            self.bytes = bytes.count == 16 ? Array(Network.embedded(in: bytes) ?? Array(bytes.prefix(8))) : bytes
        }
    }

    private var loginByAddress: Throttle<Address>
    private var loginByBoth: Throttle<Person>
    private var loginByAccount: Throttle<Person>
    private var register: Throttle<Address>
    private var refreshByAddress: Throttle<Address>
    private var refreshByDevice: Throttle<Device>
    private var resetByAddress: Throttle<Address>
    private var resetByAccount: Throttle<Person>

    package init(_ rates: AccountRates = AccountRates()) {
        loginByAddress = Throttle(rates.loginByAddress)
        loginByBoth = Throttle(rates.loginByAddressAndAccount)
        loginByAccount = Throttle(rates.loginByAccount)
        register = Throttle(rates.register)
        refreshByAddress = Throttle(rates.refreshByAddress)
        refreshByDevice = Throttle(rates.refreshByDevice)
        resetByAddress = Throttle(rates.resetByAddress)
        resetByAccount = Throttle(rates.resetByAccount)
    }

    /// Takes a call, or returns the milliseconds until one is possible. A call that one rate refuses takes nothing from
    /// the others.
    ///
    /// - Parameter address: the caller's address, as trusted proxies state it; `nil` if unknown, which all such callers
    ///   share.
    package mutating func take(_ call: Call, from address: String?, now: Milliseconds) -> Int64? {
        let place = Address(address)
        switch call {
        case .password(let workspace, let login):
            let (account, both) = (Person(workspace: workspace, name: login), Person(workspace, login, place))
            let waits = [
                loginByBoth.wait(for: both, now: now), loginByAddress.wait(for: place, now: now),
                loginByAccount.wait(for: account, now: now),
            ]
            if let wait = Self.longest(waits) { return wait }
            return loginByBoth.take(both, now: now) ?? loginByAddress.take(place, now: now)
                ?? loginByAccount.take(account, now: now)
        case .register: return register.take(place, now: now)
        case .refresh(let workspace, let user, let client):
            let device = Device(workspace: workspace, user: user, client: client)
            let waits = [refreshByDevice.wait(for: device, now: now), refreshByAddress.wait(for: place, now: now)]
            if let wait = Self.longest(waits) { return wait }
            return refreshByDevice.take(device, now: now) ?? refreshByAddress.take(place, now: now)
        case .reset(let workspace, let login):
            let account = Person(workspace: workspace, name: login)
            let waits = [resetByAccount.wait(for: account, now: now), resetByAddress.wait(for: place, now: now)]
            if let wait = Self.longest(waits) { return wait }
            return resetByAccount.take(account, now: now) ?? resetByAddress.take(place, now: now)
        case .resetToken: return loginByAddress.take(place, now: now)
        }
    }

    private static func longest(_ waits: [Int64?]) -> Int64? { waits.compactMap(\.self).max() }
}
