import Logging
import ServiceLifecycle
import TidemarkLock
import TidemarkModel
import TidemarkStore

/// Looks up from time to time when the newest verified backup was taken, so that a scrape need not wait for the store.
final class BackupWatch: Service {
    private static let lookEvery = Duration.seconds(60)

    private let log: (any BackupLog)?
    private let clock: any Clock<Duration>
    private let logger: Logger
    private let newest = Lock<Milliseconds?>(nil)

    init(_ log: (any BackupLog)?, clock: any Clock<Duration>, logger: Logger) {
        self.log = log
        self.clock = clock
        self.logger = logger
    }

    /// The time of the newest verified backup in milliseconds since 1970; `nil` when none is known.
    var lastTaken: Milliseconds? { newest.withLock { $0 } }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                await self.look()
                do { try await self.clock.sleep(for: Self.lookEvery) } catch { break }
            }
        }
    }

    /// Reads the time from the store. If that fails, the last known time stays.
    func look() async {
        guard let log else { return }
        do throws(StoreError) {
            let taken = try await log.lastVerifiedBackup()
            newest.withLock { $0 = taken }
        } catch {
            guard !Task.isCancelled else { return }
            logger.debug("Could not look for the last verified backup", metadata: ["error": "\(error)"])
        }
    }
}
