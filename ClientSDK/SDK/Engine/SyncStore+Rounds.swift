extension SyncStore {
    /// Syncs now: connects without waiting for the next attempt's time, sends all pending writes and blobs, and takes
    /// in all new changes. A call while another one waits joins it.
    ///
    ///     let status = try await store.syncNow()
    ///     if status.activity != .upToDate { banner.show(status.activity) }
    ///
    /// Returns as soon as that is done or cannot be done now; `activity` tells which. It gives up a minute after the
    /// last progress, and the work under way continues. Before `connect`, and while paused, it returns at once with
    /// `disconnected`.
    ///
    /// - Throws: `CancellationError`; the work under way continues.
    @discardableResult
    public func syncNow() async throws -> SyncStatus {
        await adoptQuietly()
        await syncing.round()
        await couriers.round()
        try Task.checkCancellation()
        return await countedStatus()
    }

    /// Closes the connection and opens none until `resume()`; local writes remain possible. For an app that moves to
    /// the background. A later `connect` stays paused too.
    public func pause() { syncing.setPaused(true) }

    /// Connects again after `pause()`, and adopts what extensions wrote meanwhile.
    public func resume() {
        syncing.setPaused(false)
        sharing?.wishes.send()
    }

    /// True between `pause()` and `resume()`.
    public var isPaused: Bool { syncing.isPaused }

    /// Runs one round for a scheduler: `BGAppRefreshTask`, cron, a push notification. Connects even while paused, and
    /// leaves the store paused as it was.
    ///
    ///     store.pause()                                              // the app went to the background
    ///     let status = await store.runOnce(deadline: .seconds(25))   // later, when the system gives it time
    ///
    /// - Parameters:
    ///   - deadline: the longest time that it may take. Unfinished work continues in the next round; nothing is lost.
    ///   - clock: measures the deadline.
    /// - Returns: the status at the end of the round or the deadline.
    @discardableResult
    public func runOnce(deadline: Duration, clock: any Clock<Duration> = ContinuousClock()) async -> SyncStatus {
        let wasPaused = isPaused
        if wasPaused { resume() }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { [self, syncing, couriers] in
                await adoptQuietly()
                await syncing.round()
                await couriers.round()
            }
            // Throws only when the round was faster.
            group.addTask { try? await clock.sleep(for: deadline) }
            await group.next()
            group.cancelAll()
        }
        let status = await countedStatus()
        if wasPaused { pause() }
        return status
    }
}
