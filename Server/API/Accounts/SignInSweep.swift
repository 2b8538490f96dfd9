package import Logging
import ServiceLifecycle
import TidemarkIdentity
package import TidemarkModel
import TidemarkStore

/// Forgets devices that were unused for long, some at a time. Any number of nodes may do it.
package struct SignInSweep: Service {
    private static let limit = 500
    private static let pause = Duration.milliseconds(50)
    private let desk: AccountService
    private let now: @Sendable () -> Milliseconds
    private let clock: any Clock<Duration>
    private let logger: Logger

    /// - Parameter now: the time by which to forget; see COMPACTION.md, "Clocks".
    package init(
        _ desk: AccountService, now: @escaping @Sendable () -> Milliseconds, clock: any Clock<Duration>, logger: Logger
    ) {
        self.desk = desk
        self.now = now
        self.clock = clock
        self.logger = logger
    }

    package func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                do {
                    try await self.clock.sleep(for: self.desk.rules.limits.sweepEvery)
                    try await self.sweep()
                } catch is CancellationError {
                    return
                } catch {
                    self.logger.warning(
                        "Could not forget devices that were unused for long; it is tried again",
                        metadata: ["error": "\(error)"])
                }
            }
        }
    }

    private func sweep() async throws {
        let limits = desk.rules.limits
        for workspace in desk.rules.workspaces {
            while try await desk.store.forgetSignIns(
                usedBefore: now() - limits.idleMax, in: workspace, limit: Self.limit) >= Self.limit
            {
                try await clock.sleep(for: Self.pause)
            }
        }
    }
}
