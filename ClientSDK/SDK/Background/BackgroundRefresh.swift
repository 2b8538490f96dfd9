public import Logging

/// Syncs a store in the background: asks the system for a task every quarter of an hour and runs one round in each.
///
///     let refresh = BackgroundRefresh("com.example.sync", by: .system)
///     try refresh.register()            // before the app has finished launching
///     await refresh.run(store)          // once a store is open, for as long as the app lives
///
/// A task that is granted before the store is open waits for it.
///
/// A task that expires cancels its round. Nothing is lost: a write is on disk before its call returns, and the next
/// round sends it once.
public final class BackgroundRefresh: Sendable {
    private let identifier: String
    private let interval: Duration
    private let deadline: Duration
    private let scheduler: any RefreshScheduler
    private let logger: Logger
    private let granted: AsyncStream<any RefreshTask>
    private let grants: AsyncStream<any RefreshTask>.Continuation

    /// - Parameters:
    ///   - identifier: an entry of `BGTaskSchedulerPermittedIdentifiers` in the app's property list.
    ///   - scheduler: the system's scheduler, `.system` on iOS, or one of a test.
    ///   - interval: the shortest time between two tasks; the system decides. The default is 15 minutes.
    ///   - deadline: the longest time of one round; keep it below the 30 seconds that iOS grants.
    ///   - logger: receives the refusals of the system.
    public init(
        _ identifier: String, by scheduler: any RefreshScheduler, every interval: Duration = .seconds(900),
        deadline: Duration = .seconds(25), logger: Logger = Logger(label: "tidemark.background")
    ) {
        self.identifier = identifier
        self.scheduler = scheduler
        self.interval = interval
        self.deadline = deadline
        self.logger = logger
        // The system grants one at a time; a second one would only repeat the first.
        (granted, grants) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Registers with the system and asks for the first task. On iOS, call it before the app has finished launching.
    ///
    /// - Throws: the system's error about the identifier. If the system grants no task now, that is logged, and the
    ///   next `register` asks again.
    public func register() throws {
        try scheduler.register(identifier) { [grants] task in
            switch grants.yield(task) {
            case .dropped(let earlier): earlier.complete(success: false)
            case .terminated: task.complete(success: false)
            default: break
            }
        }
        request()
    }

    /// Runs a round of the store in each task that the system grants, until the caller's task is cancelled. Call it
    /// once.
    public func run(_ store: SyncStore) async {
        for await task in granted {
            // The next task is requested first: this one may expire at any time.
            request()
            await run(task, store)
        }
        scheduler.cancel(identifier)
    }

    private func run(_ task: any RefreshTask, _ store: SyncStore) async {
        let (expired, expire) = AsyncStream.makeStream(of: Void.self)
        task.onExpiration { expire.finish() }
        let status = await withTaskGroup(of: SyncStatus?.self) { [deadline] group in
            group.addTask { await store.runOnce(deadline: deadline) }
            group.addTask {
                for await _ in expired {}
                return nil
            }
            let first = await group.next() ?? nil
            group.cancelAll()
            return first
        }
        task.complete(success: status?.activity == .upToDate)
    }

    private func request() {
        do {
            try scheduler.request(identifier, after: interval)
        } catch {
            logger.warning(
                "The system grants no background refresh",
                metadata: ["identifier": "\(identifier)", "error": "\(error)"])
        }
    }
}
