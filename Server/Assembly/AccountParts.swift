import Logging
import NIOCore
import ServiceLifecycle
import TidemarkAPI
import TidemarkIdentity
import TidemarkModel
import TidemarkNode
import TidemarkStore

/// The services and keys for people's sign-in, put together.
struct AccountParts {
    let desk: AccountService
    /// The services that must run.
    let services: [any Service]

    /// `nil` if the configuration has no accounts.
    ///
    /// - Throws: for an invalid reset hook.
    init?(
        _ configuration: ServerConfiguration, store: any AccountStore, eventLoops: any EventLoopGroup,
        _ surroundings: ServerAssembly.Surroundings, forgetting: ForgettingTime, logger: Logger
    ) async throws(ConfigurationError) {
        guard let accounts = configuration.accounts, let keys = try await configuration.accountKeys() else {
            return nil
        }
        let limits = configuration.limits.accounts
        let bench = PasswordHasher(
            PasswordJudge(cost: limits.cost), atOnce: limits.hashesAtOnce, waitingMax: limits.hashesWaitingMax,
            random: surroundings.nonce)
        var resets: ResetDesk?
        if let (url, secret) = accounts.hook {
            let hook: ResetHook
            do throws(KeyReadingError) {
                hook = try ResetHook(url: url, secret: secret, group: eventLoops)
            } catch {
                throw ConfigurationError(.accountsResetHook, "\(error)")
            }
            resets = ResetDesk(
                ResetDesk.Parts(
                    store: store, limits: limits,
                    tell: { try await hook.tell($0, id: surroundings.nonce(), now: $1) }, now: surroundings.now,
                    random: surroundings.nonce, logger: logger))
        }
        desk = AccountService(
            store: store,
            rules: AccountService.Rules(workspaces: accounts.workspaces, isOpen: accounts.isOpen, limits: limits),
            keys: keys, bench: bench, resets: resets, random: surroundings.nonce)
        let sweep = SignInSweep(desk, now: { forgetting.now }, clock: surroundings.clock, logger: logger)
        services = [bench, sweep] + (resets.map { [$0] } ?? [])
    }
}
