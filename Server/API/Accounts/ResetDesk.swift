package import Logging
import ServiceLifecycle
package import TidemarkIdentity
package import TidemarkModel
package import TidemarkStore

/// Makes reset tokens, one after the other, and passes them to the operator's program. No call waits for it.
package struct ResetDesk: Service {
    private struct Request: Sendable {
        let login: String
        let workspace: WorkspaceID
    }

    /// The parts of a desk.
    package struct Parts: Sendable {
        package var store: any AccountStore
        package var limits: AccountLimits
        /// Passes a message to the operator's program, once.
        package var tell: @Sendable (ResetHook.Message, _ now: Milliseconds) async throws -> Void
        package var now: @Sendable () -> Milliseconds
        package var random: @Sendable () -> UInt64
        package var logger: Logger

        package init(
            store: any AccountStore, limits: AccountLimits,
            tell: @escaping @Sendable (ResetHook.Message, _ now: Milliseconds) async throws -> Void,
            now: @escaping @Sendable () -> Milliseconds, random: @escaping @Sendable () -> UInt64, logger: Logger
        ) {
            self.store = store
            self.limits = limits
            self.tell = tell
            self.now = now
            self.random = random
            self.logger = logger
        }
    }

    private let parts: Parts
    private let requests: AsyncStream<Request>
    private let waiting: AsyncStream<Request>.Continuation

    package init(_ parts: Parts) {
        self.parts = parts
        (requests, waiting) = AsyncStream.makeStream(
            of: Request.self, bufferingPolicy: .bufferingOldest(max(1, parts.limits.resetsWaitingMax)))
    }

    /// Queues a request; false when too many wait.
    func ask(_ login: String, in workspace: WorkspaceID) -> Bool {
        switch waiting.yield(Request(login: login, workspace: workspace)) {
        case .enqueued: true
        // A server that stops takes none: the user requests again.
        case .dropped, .terminated: false
        @unknown default: false
        }
    }

    /// Answers requests until a graceful shutdown.
    package func run() async throws {
        await cancelWhenGracefulShutdown {
            for await request in self.requests {
                do {
                    try await self.answer(request)
                } catch {
                    self.parts.logger.warning(
                        "Could not deliver a reset token; its user must request another",
                        metadata: ["error": "\(error)"])
                }
            }
        }
    }

    private func answer(_ request: Request) async throws {
        guard let account = try await parts.store.account(request.login, in: request.workspace),
            account.disabled == nil,
            let token = try await Self.make(for: account, in: request.workspace, parts)
        else { return }
        let message = ResetHook.Message(
            workspace: request.workspace, login: account.login, token: token.token, until: token.until)
        try await parts.tell(message, parts.now())
    }

    /// Makes a reset token for an account, which replaces the one before.
    ///
    /// - Returns: `nil` when the account has changed meanwhile.
    private static func make(
        for account: Account, in workspace: WorkspaceID, _ parts: Parts
    ) async throws(StoreError) -> (token: ResetToken, until: Milliseconds)? {
        try await account.reset(
            in: workspace, parts.store, until: parts.now() + parts.limits.resetLifetime, parts.random)
    }
}

extension Account {
    /// Stores that a new reset token may set another password until a time; `nil` when the account has changed since it
    /// was read.
    func reset(
        in workspace: WorkspaceID, _ store: any AccountStore, until: Milliseconds, _ random: () -> UInt64
    ) async throws(StoreError) -> (token: ResetToken, until: Milliseconds)? {
        let token = ResetToken(for: user, random: random)
        var next = self
        next.reset = PasswordReset(digest: token.digest, until: until)
        guard try await store.replace(next, endingSignIns: false, in: workspace) else { return nil }
        return (token, until)
    }
}
